import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { buildJobName, contextKeyOf } from "../../../src/build/kaniko/index.ts";
import { SlessError } from "../../../src/errors/index.ts";
import { eventually } from "../../support/eventually.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";
import { memoryObjectStore } from "../../support/memory-object-store.ts";
import { type BuildWorld, buildOf, DIGEST, jobsOnCluster } from "./jobs-on-cluster.ts";

const unique = () => randomBytes(8).toString("hex");
/** Pods run and never end. */
const ENDLESS = { image: "sless:unready" };
const RUNNING = { running: { startedAt: "2026-01-01T00:00:00Z" } };

async function jobNames({ get }: BuildWorld): Promise<string[]> {
  return (await get("jobs")).map(({ metadata }: { metadata: { name: string } }) => metadata.name).sort();
}

const jobOf = ({ get }: BuildWorld, key: string) =>
  eventually(
    "the Job",
    () => get("jobs", buildJobName(key)),
    (job) => job !== undefined,
  );

describeOnCluster("image jobs on a cluster", (cluster) => {
  it("a build is a Job that a baseline namespace admits, and its result is the pushed digest", async () => {
    const world = await jobsOnCluster(cluster());
    const build = buildOf(unique());
    expect(await world.jobs.ensure(build)).toMatchObject({ phase: "building" });
    expect(await world.until(build, "built")).toMatchObject({ digest: DIGEST });
    expect(world.told).toContain(build.key);
    const job = await world.get("jobs", buildJobName(build.key));
    expect(job.status.succeeded).toBe(1);
    const { body } = await cluster().request("GET", `/api/v1/namespaces/${world.namespace}`);
    expect(body.metadata.labels).toMatchObject({ "pod-security.kubernetes.io/enforce": "baseline" });
    expect(await world.get("networkpolicies", "sless-builds")).toMatchObject({
      spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] },
    });
  });

  it("the registry's credentials are copied for the container that pushes, and nothing else of their secret", async () => {
    const own = await cluster().createNamespace("sless");
    const auth = Buffer.from("sless:password").toString("base64");
    const auths = { "registry.example.org": { auth }, "other.example.org": { auth: "b3RoZXI6b3RoZXI=" } };
    const secret = {
      metadata: { name: "registry" },
      type: "kubernetes.io/dockerconfigjson",
      stringData: { ".dockerconfigjson": JSON.stringify({ auths }) },
    };
    await cluster().request("POST", `/api/v1/namespaces/${own}/secrets`, { body: secret });
    const named = { namespace: own, name: "registry" };
    const registry = { host: "registry.example.org", pushSecret: named, pullSecret: { ...named, name: "missing" } };
    const world = await jobsOnCluster(cluster(), { settings: { registry } });
    await world.until(buildOf(unique()), "built");
    const copy = await world.get("secrets", "sless-push");
    const config = Buffer.from(copy.data[".dockerconfigjson"], "base64").toString();
    expect(JSON.parse(config)).toEqual({ auths: { "registry.example.org": { auth } } });
    expect(await world.get("secrets", "sless-pull")).toBeUndefined();
  });

  it("nothing is written again in a namespace that is as it should be", async () => {
    const one = await jobsOnCluster(cluster());
    await one.until(buildOf(unique()), "built");
    const before = await one.get("networkpolicies", "sless-builds");
    const other = await one.another();
    await other.until(buildOf(unique()), "built");
    const after = await other.get("networkpolicies", "sless-builds");
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  it("its files are stored before it begins, and gone when it has ended", async () => {
    const world = await jobsOnCluster(cluster(), ENDLESS);
    const build = buildOf(unique());
    await world.jobs.ensure(build);
    await jobOf(world, build.key);
    const contextKey = contextKeyOf(build.workload, build.key);
    expect(await world.objects.has(contextKey)).toBe(true);
    const terminated = { exitCode: 0, message: DIGEST, startedAt: null, finishedAt: null };
    await world.setPod(build.key, {
      phase: "Succeeded",
      containerStatuses: [
        { name: "push", state: { terminated }, ready: false, restartCount: 0, image: "", imageID: "" },
      ],
    });
    await world.until(build, "built");
    const isThere = () => world.objects.has(contextKey);
    await eventually("its files go", isThere, (seen) => !seen);
  });

  it("the same build asked for again and again is one Job", async () => {
    const world = await jobsOnCluster(cluster(), ENDLESS);
    const build = buildOf(unique());
    await Promise.all(Array.from({ length: 5 }, () => world.jobs.ensure(build)));
    await jobOf(world, build.key);
    await world.jobs.ensure({ ...build, workload: { ...build.workload, name: "other" } });
    expect(await jobNames(world)).toEqual([buildJobName(build.key)]);
  });

  it("two controllers that want the same build make one Job, and both learn of its end", async () => {
    const one = await jobsOnCluster(cluster());
    const other = await one.another();
    const build = buildOf(unique());
    await Promise.all([one.jobs.ensure(build), other.jobs.ensure(build)]);
    for (const world of [one, other]) expect(await world.until(build, "built")).toMatchObject({ digest: DIGEST });
    expect(await jobNames(one)).toEqual([buildJobName(build.key)]);
  });

  it("a controller that is killed leaves builds that the next one goes on with", async () => {
    const killed = await jobsOnCluster(cluster(), ENDLESS);
    const build = buildOf(unique());
    await killed.jobs.ensure(build);
    const { metadata } = await jobOf(killed, build.key);
    killed.kill();
    const next = await killed.another();
    await next.until(build, (state) => state.phase === "building" && state.step === "pushing the image");
    expect((await next.get("jobs", buildJobName(build.key))).metadata.uid).toBe(metadata.uid);
    expect(await jobNames(next)).toHaveLength(1);
  });

  it("files of a build that ended while nobody looked are removed by the next controller", async () => {
    const first = await jobsOnCluster(cluster());
    const build = buildOf(unique());
    await first.until(build, "built");
    first.kill();
    const contextKey = contextKeyOf(build.workload, build.key);
    await first.objects.put(contextKey, Buffer.from("left behind"));
    await first.objects.put("contexts/demo/other/unknown.tar.gz", Buffer.from("not ours to judge"));
    await first.another();
    const isThere = () => first.objects.has(contextKey);
    await eventually("its files go", isThere, (seen) => !seen);
    expect(await first.objects.has("contexts/demo/other/unknown.tar.gz")).toBe(true);
  });

  it("a cancelled build ends, and nothing of it is left", async () => {
    const world = await jobsOnCluster(cluster(), ENDLESS);
    const build = buildOf(unique());
    await world.jobs.ensure(build);
    await jobOf(world, build.key);
    await world.jobs.cancel(build.key);
    await eventually(
      "nothing is left",
      async () => [await world.get("jobs"), await world.get("pods")],
      (left) => left.every((items) => items.length === 0),
    );
    const isThere = () => world.objects.has(contextKeyOf(build.workload, build.key));
    await eventually("its files go", isThere, (seen) => !seen);
    await world.jobs.cancel(build.key);
  });

  it("a build that is cancelled while its files are stored leaves no Job", async () => {
    const reading = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const world = await jobsOnCluster(cluster(), ENDLESS);
    const build = buildOf(unique(), "demo", {
      async *files() {
        reading.resolve();
        await goOn.promise;
        yield { path: "src/handler.py", content: Buffer.from("") };
      },
    });
    await world.jobs.ensure(build);
    await reading.promise;
    await world.jobs.cancel(build.key);
    goOn.resolve();
    const other = buildOf(unique());
    await world.until(
      other,
      ({ phase, ...rest }) => phase === "building" && "step" in rest && rest.step === "pushing the image",
    );
    expect(await jobNames(world)).toEqual([buildJobName(other.key)]);
  });

  it("no more builds run than the limits allow, and who waits is told so", async () => {
    const world = await jobsOnCluster(cluster(), {
      ...ENDLESS,
      settings: { concurrency: 3, concurrencyPerTenant: 2 },
    });
    const many = ["a", "b", "c"].map((each) => buildOf(each + unique(), "many"));
    const few = [buildOf(unique(), "few"), buildOf(unique(), "few")];
    for (const build of [...many, ...few]) await world.jobs.ensure(build);
    const wanted = [many[0]!, many[1]!, few[0]!].map(({ key }) => buildJobName(key)).sort();
    await eventually(
      "three run",
      () => jobNames(world),
      (names) => names.length === 3,
    );
    expect(await jobNames(world)).toEqual(wanted);
    for (const build of [many[2]!, few[1]!])
      expect(await world.jobs.ensure(build)).toMatchObject({ phase: "building", step: "waiting for a slot" });
    // A slot of the first tenant is free: the second is at its turn for what is free in all.
    await world.jobs.cancel(many[0]!.key);
    await jobOf(world, many[2]!.key);
    await world.jobs.cancel(few[0]!.key);
    await jobOf(world, few[1]!.key);
    await eventually(
      "again three run",
      () => jobNames(world),
      (names) => names.length === 3,
    );
  });

  it("files that cannot be read or stored are told once, and the build is begun when it is asked for again", async () => {
    let faults = 1;
    const objects = memoryObjectStore();
    const failing: typeof objects = {
      ...objects,
      async put(key, body) {
        faults -= 1;
        if (faults >= 0) throw new SlessError("storage_unavailable", { what: "The store", cause: "test" });
        return objects.put(key, body);
      },
    };
    const world = await jobsOnCluster(cluster(), { objects: failing });
    const build = buildOf(unique());
    await world.jobs.ensure(build);
    await eventually(
      "it is told",
      () => world.told,
      (told) => told.includes(build.key),
    );
    await expect(world.jobs.ensure(build)).rejects.toMatchObject({ code: "storage_unavailable" });
    expect(await world.until(build, "built")).toMatchObject({ digest: DIGEST });
  });

  it("a key that is no sha256 is refused", async () => {
    const world = await jobsOnCluster(cluster());
    const refused = world.jobs.ensure({ ...buildOf(unique()), key: "../../etc" });
    await expect(refused).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("what failed stays failed until it is asked to try again", async () => {
    const world = await jobsOnCluster(cluster(), { image: "sless:crashing" });
    const build = buildOf(unique());
    const failed = await world.until(build, "failed");
    expect(failed).toMatchObject({ by: "builder", reason: "PushFailed" });
    const { metadata } = await world.get("jobs", buildJobName(build.key));
    expect(await world.jobs.ensure(build)).toEqual(failed);
    const retryBefore = new Date(Date.now() + 2_000);
    await eventually(
      "two seconds pass",
      () => Date.now(),
      (now) => now > retryBefore.getTime(),
    );
    expect(await world.jobs.ensure({ ...build, retryBefore })).toMatchObject({ phase: "building" });
    await world.until({ ...build, retryBefore }, "failed");
    const again = await world.get("jobs", buildJobName(build.key));
    expect(again.metadata.uid).not.toBe(metadata.uid);
    expect(await world.jobs.ensure({ ...build, retryBefore })).toMatchObject({ phase: "failed" });
    expect((await world.get("jobs", buildJobName(build.key))).metadata.uid).toBe(again.metadata.uid);
  });

  it("a Job that somebody deletes is begun anew when it is asked for", async () => {
    const world = await jobsOnCluster(cluster(), ENDLESS);
    const build = buildOf(unique());
    await world.jobs.ensure(build);
    const { metadata } = await jobOf(world, build.key);
    const path = `/apis/batch/v1/namespaces/${world.namespace}/jobs/${metadata.name}?propagationPolicy=Background`;
    await cluster().request("DELETE", path);
    const askAgain = async () => {
      await world.jobs.ensure(build);
      return world.get("jobs", metadata.name);
    };
    await eventually("another Job", askAgain, (job) => job !== undefined && job.metadata.uid !== metadata.uid);
  });

  it("the steps of a build are told as its pod takes them", async () => {
    const world = await jobsOnCluster(cluster(), ENDLESS);
    const build = buildOf(unique());
    const says = (step: string) => world.until(build, (state) => state.phase === "building" && state.step === step);
    await says("pushing the image");
    const status = (name: string, state: object) => ({
      name,
      state,
      ready: false,
      restartCount: 0,
      image: "",
      imageID: "",
    });
    await cluster().appendPodLog(world.namespace, "build-", "INFO[0000] RUN pip install -r requirements.txt\n");
    const waiting = status("push", { running: null, waiting: { reason: "PodInitializing" } });
    await world.setPod(build.key, {
      containerStatuses: [waiting],
      initContainerStatuses: [status("build", { waiting: { reason: "PodInitializing" } })],
    });
    await says("pulling the builder's image");
    await world.setPod(build.key, { initContainerStatuses: [status("build", RUNNING)] });
    await says("running pip install -r requirements.txt");
  });
});
