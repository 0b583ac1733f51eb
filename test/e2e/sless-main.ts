// What runs in the tests' pods: sless as it is, but for the Builder, which waits for images that the tests push.
import { startCluster } from "../../src/app/cluster/index.ts";
import type { Role } from "../../src/cli/index.ts";
import { readClusterSettings } from "../../src/config/index.ts";
import { systemClock } from "../../src/controller/index.ts";
import { registryClient } from "../../src/registry/index.ts";
import { registryBuilder } from "../support/registry-builder.ts";

const ROLES: readonly Role[] = ["controller", "api", "gateway"];
const wanted = process.argv[2];
const app = await startCluster({
  roles: ROLES.filter((role) => wanted === "serve" || wanted === role),
  settings: readClusterSettings(process.env),
  openBuilder({ settings: { registry } }) {
    if (!registry) throw new Error("REGISTRY_HOST is not set");
    const { host, plainHttp } = registry;
    return registryBuilder(registryClient({ host, plainHttp, clock: systemClock }), systemClock);
  },
});
for (const signal of ["SIGTERM", "SIGINT"] as const)
  process.once(signal, () => void app.close().then(() => process.exit(0)));
