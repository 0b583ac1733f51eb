import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/controller/clock.ts";
import { openKubernetesClient } from "../../../src/kubernetes/index.ts";
import { kubernetesReplicas } from "../../../src/platform/kubernetes/index.ts";
import { logText, specOf, untilCurrent } from "../../contract/platform.ts";
import { eventually } from "../../support/eventually.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";
import { type PlatformWorld, platformOnCluster } from "./platform-on-cluster.ts";

const IMAGE = `registry.local/image@sha256:${"a".repeat(64)}`;
const helloIn = ({ namespace }: PlatformWorld, name = "hello") =>
  specOf(IMAGE, { workload: { kind: "Function", namespace, name } });

describeOnCluster("what a gateway knows of replicas", (cluster) => {
  it("is leased from EndpointSlices alone, and every change is told", async () => {
    const world = await platformOnCluster(cluster());
    const client = openKubernetesClient({ from: { file: cluster().kubeconfig } });
    const stop = new AbortController();
    onTestFinished(async () => {
      stop.abort();
      await client.close();
    });
    const replicas = kubernetesReplicas({ client, clock: systemClock });
    const told: string[] = [];
    replicas.onChange(({ namespace, name }) => void (namespace === world.namespace && told.push(name)));
    await replicas.start(stop.signal);
    const { workload } = helloIn(world);
    expect(replicas.acquire(workload)).toBeUndefined();
    await world.platform.apply(helloIn(world), 2);
    await untilCurrent(world.platform, workload);
    const origins = await eventually(
      "both are leased",
      () => {
        const leases = [replicas.acquire(workload), replicas.acquire(workload)];
        for (const lease of leases) lease?.release();
        return leases.map((lease) => lease?.origin);
      },
      ([one, two]) => one !== undefined && two !== undefined && one !== two,
    );
    for (const origin of origins) expect(origin).toMatch(/^http:\/\/10\.98\.\d+\.\d+:8080$/);
    expect(told).toContain("hello");
    await world.platform.apply(helloIn(world), 0);
    await eventually(
      "none is leased",
      () => replicas.acquire(workload),
      (lease) => lease === undefined,
    );
  });
});

describeOnCluster("logs", (cluster) => {
  const stamp = (second: number) => `2026-01-01T00:00:0${second}.123456789Z`;

  it("hold what all replicas print, oldest first, each line with its time and replica", async () => {
    const world = await platformOnCluster(cluster());
    const { workload } = helloIn(world);
    expect(await logText(world.platform, workload)).toBe("");
    await world.platform.apply(helloIn(world), 2);
    await untilCurrent(world.platform, workload);
    const [one, two] = (await world.list("pods")).map(({ metadata }) => metadata.name);
    await cluster().appendPodLog(world.deployNamespace, one, `${stamp(1)} first\n${stamp(3)} third: a b\n`);
    await cluster().appendPodLog(world.deployNamespace, two, `${stamp(2)} second\n`);
    const line = (second: number, pod: string, text: string) => `2026-01-01T00:00:0${second}.123Z ${pod} ${text}\n`;
    const all = [line(1, one, "first"), line(2, two, "second"), line(3, one, "third: a b")];
    expect(await logText(world.platform, workload)).toBe(all.join(""));
    expect(await logText(world.platform, workload, 2)).toBe(all.slice(1).join(""));
  });

  it("go on with what comes, of later replicas too, until whoever reads goes", async () => {
    const world = await platformOnCluster(cluster());
    const { workload } = helloIn(world);
    await world.platform.apply(helloIn(world), 1);
    await untilCurrent(world.platform, workload);
    const [first] = (await world.list("pods")).map(({ metadata }) => metadata.name);
    await cluster().appendPodLog(world.deployNamespace, first, `${stamp(1)} first\n`);
    const stop = new AbortController();
    let text = "";
    const reading = (async () => {
      for await (const chunk of world.platform.logs(workload, { follow: true, signal: stop.signal }))
        text += Buffer.from(chunk).toString();
    })();
    const shows = (words: string) =>
      eventually(
        `it shows ${words}`,
        () => text,
        (seen) => seen.includes(words),
      );
    await shows("first");
    await cluster().appendPodLog(world.deployNamespace, first, `${stamp(2)} second\n`);
    await shows("second");
    await world.platform.apply(helloIn(world), 2);
    await untilCurrent(world.platform, workload);
    const later = (await world.list("pods")).map(({ metadata }) => metadata.name).find((name) => name !== first);
    await cluster().appendPodLog(world.deployNamespace, later, `${stamp(3)} third\n`);
    await shows("third");
    stop.abort();
    await reading;
    expect(text.match(/first/g)).toHaveLength(1);
  });
});
