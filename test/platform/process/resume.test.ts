import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/controller/clock.ts";
import { processPlatform } from "../../../src/platform/process/index.ts";
import { openProcessSupervisor } from "../../../src/processes/index.ts";
import { answerOf, servedBy, specOf, untilCurrent, untilState } from "../../contract/platform.ts";
import { eventually } from "../../support/eventually.ts";
import { fakeImages } from "../../support/fake-images.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Lives of a platform over one folder; each begins where the one before was closed. */
async function platformLives() {
  const folder = await temporaryFolder();
  const images = fakeImages(folder);
  const gone = new Set<string>();
  async function begin(secret = "value") {
    const processes = await openProcessSupervisor({ folder: join(folder, "processes") });
    const platform = processPlatform({
      folder: join(folder, "platform"),
      processes,
      resolveImage: async (imageRef) => (gone.has(imageRef) ? undefined : images.resolveImage(imageRef)),
      secrets: async () => secret,
      clock: systemClock,
      baseEnv: { PATH: "/usr/bin:/bin" },
      timing: { backOffMinMs: 100, backOffMaxMs: 800, drainMarginMs: 500 },
    });
    async function end(): Promise<void> {
      await platform.close();
      await processes.close();
    }
    onTestFinished(end);
    return { platform, end };
  }
  const records = join(folder, "platform", "serving", "demo");
  return { begin, gone, makeImage: images.make, records, recorded: () => readdir(records).catch(() => []) };
}

const serves =
  (text: string) =>
  ({ text: seen }: { text: string }) =>
    seen === text;

describe("after a restart", () => {
  it("what served serves again, without being applied", async () => {
    const { begin, makeImage } = await platformLives();
    const spec = specOf(await makeImage({ text: "one" }), { env: { GREETING: "hi" } });
    const first = await begin();
    await first.platform.apply(spec, 2);
    await untilCurrent(first.platform, spec.workload);
    await first.end();

    const { platform } = await begin();
    const told: unknown[] = [];
    platform.onChange((workload) => told.push(workload));
    expect(await platform.list()).toEqual([spec.workload]);
    expect(await platform.state(spec.workload)).toBeDefined();
    expect(await untilCurrent(platform, spec.workload)).toEqual({ ...servedBy(spec), serving: 2, current: true });
    const { text, env } = await answerOf(platform, spec.workload);
    expect({ text, env }).toMatchObject({ text: "one", env: { GREETING: "hi" } });
    expect(told).toContainEqual(spec.workload);
  });

  it("applying the spec that serves starts nothing", async () => {
    const { begin, makeImage } = await platformLives();
    const spec = specOf(await makeImage());
    const first = await begin();
    await first.platform.apply(spec, 1);
    await untilCurrent(first.platform, spec.workload);
    await first.end();

    const { platform } = await begin();
    await platform.apply({ ...spec }, 1);
    await untilCurrent(platform, spec.workload);
    const { pid } = await answerOf(platform, spec.workload);
    expect(await platform.apply({ ...spec }, 1)).toMatchObject({ serving: 1, current: true });
    expect((await answerOf(platform, spec.workload)).pid).toBe(pid);
  });

  it("a revision that cannot start leaves the last good one serving", async () => {
    const { begin, makeImage } = await platformLives();
    const good = specOf(await makeImage({ text: "good" }));
    const broken = { ...good, imageRef: await makeImage({ exitAtStart: 3 }) };
    const first = await begin();
    await first.platform.apply(good, 1);
    await untilCurrent(first.platform, good.workload);
    await first.platform.apply(broken, 1);
    await untilState(first.platform, good.workload, (state) => state?.failure !== undefined);
    await first.end();

    const { platform } = await begin();
    await platform.apply(broken, 1);
    const state = await untilState(platform, good.workload, (now) => now?.serving === 1 && now.failure !== undefined);
    expect(state).toMatchObject({ servingImageRef: good.imageRef, current: false, failure: { reason: "StartFailed" } });
    expect(await answerOf(platform, good.workload)).toMatchObject({ text: "good" });
  });

  it("another spec rolls over from what serves", async () => {
    const { begin, makeImage } = await platformLives();
    const old = specOf(await makeImage({ text: "old" }));
    const next = { ...old, imageRef: await makeImage({ text: "new", unhealthyProbes: 5 }) };
    const first = await begin();
    await first.platform.apply(old, 1);
    await untilCurrent(first.platform, old.workload);
    await first.end();

    const second = await begin();
    await untilCurrent(second.platform, old.workload);
    expect(await second.platform.apply(next, 1)).toMatchObject({ serving: 1, servingImageRef: old.imageRef });
    await eventually("the new one answers", () => answerOf(second.platform, old.workload), serves("new"));
    await second.end();

    const { platform } = await begin();
    await untilCurrent(platform, old.workload);
    expect(await answerOf(platform, old.workload)).toMatchObject({ text: "new" });
  });

  it("as many replicas serve as did last, with the secrets of today", async () => {
    const { begin, makeImage } = await platformLives();
    const spec = specOf(await makeImage(), { secretEnv: { TOKEN: { secret: "api", key: "token" } } });
    const first = await begin();
    await first.platform.apply(spec, 3);
    await untilCurrent(first.platform, spec.workload);
    await first.platform.apply(spec, 1);
    await first.end();

    const { platform } = await begin("newer");
    expect(await untilCurrent(platform, spec.workload)).toMatchObject({ serving: 1 });
    expect((await answerOf(platform, spec.workload)).env).toMatchObject({ TOKEN: "newer" });
  });

  it.each(["scaled to zero", "removed"])("what was %s stays stopped", async (how) => {
    const { begin, makeImage, recorded } = await platformLives();
    const spec = specOf(await makeImage());
    const first = await begin();
    await first.platform.apply(spec, 1);
    await untilCurrent(first.platform, spec.workload);
    await (how === "removed" ? first.platform.remove(spec.workload) : first.platform.apply(spec, 0));
    await first.end();

    expect(await recorded()).toEqual([]);
    const { platform } = await begin();
    expect((await platform.state(spec.workload))?.serving ?? 0).toBe(0);
    expect(platform.acquire(spec.workload)).toBeUndefined();
  });

  it("what was removed and applied anew is what serves", async () => {
    const { begin, makeImage } = await platformLives();
    const old = specOf(await makeImage({ text: "old" }));
    const first = await begin();
    await first.platform.apply(old, 1);
    await untilCurrent(first.platform, old.workload);
    await first.platform.remove(old.workload);
    await first.platform.apply({ ...old, imageRef: await makeImage({ text: "new" }) }, 1);
    await untilCurrent(first.platform, old.workload);
    await first.end();

    const { platform } = await begin();
    await untilCurrent(platform, old.workload);
    expect(await answerOf(platform, old.workload)).toMatchObject({ text: "new" });
  });

  it("a workload whose image is gone is forgotten", async () => {
    const { begin, makeImage, gone, recorded } = await platformLives();
    const spec = specOf(await makeImage());
    const first = await begin();
    await first.platform.apply(spec, 1);
    await untilCurrent(first.platform, spec.workload);
    await first.end();
    gone.add(spec.imageRef);

    const { platform } = await begin();
    expect(await platform.state(spec.workload)).not.toHaveProperty("failure");
    await eventually("it is forgotten", recorded, ({ length }) => length === 0);
  });

  it.each([
    ["no JSON", "{"],
    ["not a revision", "[]"],
    ["of another workload", JSON.stringify({ spec: { ...specOf("x"), workload: { name: "other" } }, replicas: 1 })],
    ["of another version", JSON.stringify({ spec: { workload: specOf("x").workload, imageRef: "x" }, replicas: 1 })],
  ])("a record that is %s harms nobody", async (_, text) => {
    const { begin, makeImage, records } = await platformLives();
    const good = specOf(await makeImage({ text: "good" }));
    const first = await begin();
    await first.platform.apply(good, 1);
    await untilCurrent(first.platform, good.workload);
    await first.end();
    await writeFile(join(records, "Function-bad.json"), text);
    await writeFile(join(records, "Function-hello.json.draft"), text);

    const { platform } = await begin();
    await untilCurrent(platform, good.workload);
    expect(await answerOf(platform, good.workload)).toMatchObject({ text: "good" });
    expect(await readdir(records)).toEqual(["Function-hello.json"]);
  });
});

describe("the record of what serves", () => {
  it("holds no value of a secret, is for its owner alone, and is written only when something else serves", async () => {
    const { begin, makeImage, records } = await platformLives();
    const spec = specOf(await makeImage(), { secretEnv: { TOKEN: { secret: "api", key: "token" } } });
    const { platform } = await begin("the secret value");
    await platform.apply(spec, 1);
    await untilCurrent(platform, spec.workload);
    const path = join(records, "Function-hello.json");
    const text = await eventually("the record", () => readFile(path, "utf8").catch(() => ""), Boolean);
    expect(JSON.parse(text)).toEqual({ spec, replicas: 1 });
    const before = await stat(path);
    expect(before.mode & 0o777).toBe(0o600);

    await platform.apply(spec, 1);
    await platform.apply({ ...spec, imageRef: await makeImage({ exitAtStart: 1 }) }, 1);
    await untilState(platform, spec.workload, (state) => state?.failure !== undefined);
    expect((await stat(path)).ino).toBe(before.ino);
  });
});
