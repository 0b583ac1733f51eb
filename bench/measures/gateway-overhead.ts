import { join } from "node:path";
import { Client } from "undici";
import type { ObjectOf } from "../../src/apis/index.ts";
import { createClient } from "../../src/server/client.ts";
import type { BenchContext } from "../bench-context.ts";
import { startDevServer } from "../dev-server.ts";
import type { Figure } from "../figure.ts";
import { startFunctionServer } from "../function-server.ts";
import { percentile } from "../statistics.ts";
import { makeVersionedRepository, NODE } from "../two-languages.ts";

const ROUNDS = 20;
const CALLS = 200;
const WARM_UP = 500;

/** One caller, one call after the other over a kept connection: through the gateway against the same server directly. */
export async function measureGatewayOverhead(context: BenchContext): Promise<Figure[]> {
  const data = join(context.folder, "data");
  const { bare } = await makeVersionedRepository(context.folder);
  await using server = await startDevServer({ repository: bare, data });
  const api = createClient({ endpoint: server.url });
  const object = await api.getObject("functions", NODE.name, { namespace: "default" });
  await api.close();
  await using replica = await startFunctionServer(object as ObjectOf<"Function">, data, 5);
  const through = caller(server.url, `/fn/default/${NODE.name}`);
  const direct = caller(replica.origin, "/");
  const times = { through: [] as number[], direct: [] as number[] };
  try {
    await through.calls(WARM_UP);
    await direct.calls(WARM_UP);
    for (let round = 1; round <= ROUNDS; round += 1) {
      context.say(`gateway: ${round} of ${ROUNDS}`);
      times.through.push(...(await through.calls(CALLS)));
      times.direct.push(...(await direct.calls(CALLS)));
    }
  } finally {
    await Promise.all([through.close(), direct.close()]);
  }
  return [50, 99].map((percent) => ({
    name: `call through the gateway, p${percent} of ${times.through.length}`,
    amount: { value: percentile(times.through, percent), unit: "ms" },
    baseline: { value: percentile(times.direct, percent), unit: "ms", of: "the replica itself" },
  }));
}

function caller(origin: string, path: string) {
  const client = new Client(origin);
  async function call(): Promise<number> {
    const startedMs = performance.now();
    const { statusCode, body } = await client.request({
      method: "POST",
      path,
      headers: { "content-type": "application/json" },
      body: '{"name":"Ada"}',
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`${origin}${path} answered ${statusCode}`);
    return performance.now() - startedMs;
  }
  return {
    async calls(count: number): Promise<number[]> {
      const times: number[] = [];
      for (let n = 0; n < count; n += 1) times.push(await call());
      return times;
    },
    close: () => client.destroy(),
  };
}
