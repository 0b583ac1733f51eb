import { describe, expect, it } from "vitest";
import { answerOf, jobOf, logText, specOf, untilCurrent, untilDone, untilState } from "../../contract/platform.ts";
import { eventually } from "../../support/eventually.ts";
import { openProcessPlatform } from "../../support/open-process-platform.ts";

const API = { namespace: "demo", name: "api" };
const secretEnv = { TOKEN: { secret: "api", key: "token" } };

/** A platform whose secrets all have one value, which the test changes. */
async function openWithSecret() {
  let value: string | undefined = "first-value";
  const opened = await openProcessPlatform({ secrets: async () => value });
  const change = async (next: string | undefined) => {
    value = next;
    await opened.platform.secretChanged(API);
  };
  return { ...opened, change };
}

describe("when a secret changes", () => {
  it("the replicas that use it are replaced, and none is missing meanwhile", async () => {
    const { platform, makeImage, change } = await openWithSecret();
    const spec = specOf(await makeImage(), { secretEnv });
    await platform.apply(spec, 2);
    await untilCurrent(platform, spec.workload);
    await change("second-value");
    const tokens = new Set<string | undefined>();
    await eventually(
      "the new value serves",
      async () => {
        const token = (await answerOf(platform, spec.workload)).env.TOKEN;
        tokens.add(token);
        return token;
      },
      (token) => token === "second-value",
    );
    expect(await untilCurrent(platform, spec.workload)).toMatchObject({ serving: 2 });
    expect([...tokens].filter((token) => token !== "first-value")).toEqual(["second-value"]);
    expect(await logText(platform, spec.workload)).not.toContain("-value");
  });

  it("replicas go on when its values are the same, or when they use another", async () => {
    const { platform, makeImage, change } = await openWithSecret();
    const image = await makeImage();
    const user = specOf(image, { secretEnv });
    const other = specOf(image, {
      workload: { ...user.workload, name: "other" },
      secretEnv: { TOKEN: { secret: "more", key: "token" } },
    });
    for (const spec of [user, other]) await platform.apply(spec, 1);
    const pids = async () => {
      for (const spec of [user, other]) await untilCurrent(platform, spec.workload);
      return Promise.all([user, other].map(async (spec) => (await answerOf(platform, spec.workload)).pid));
    };
    const before = await pids();
    await change("first-value");
    expect(await platform.apply(user, 1)).toMatchObject({ current: true });
    expect(await pids()).toEqual(before);
    // Not told of, the change reaches `other` when it is applied the next time.
    await change("second-value");
    expect(await platform.state(other.workload)).toMatchObject({ current: true });
    expect(await platform.apply(other, 1)).toMatchObject({ current: false });
  });

  it("a value that does not work leaves the old replicas serving, and the next one mends it", async () => {
    const { platform, makeImage, change } = await openWithSecret();
    const spec = specOf(await makeImage(), { secretEnv });
    await platform.apply(spec, 1);
    await untilCurrent(platform, spec.workload);
    await change(undefined);
    const state = await untilState(platform, spec.workload, (now) => now?.failure !== undefined);
    expect(state).toMatchObject({ serving: 1, current: false, failure: { reason: "SecretMissing" } });
    expect((await answerOf(platform, spec.workload)).env.TOKEN).toBe("first-value");
    await change("first-value");
    expect(await untilCurrent(platform, spec.workload)).not.toHaveProperty("failure");
  });

  it("what is scaled to zero or removed stays so", async () => {
    const { platform, makeImage, change } = await openWithSecret();
    const spec = specOf(await makeImage(), { secretEnv });
    const gone = { ...spec, workload: { ...spec.workload, name: "gone" } };
    await platform.apply(spec, 0);
    await platform.apply(gone, 1);
    await platform.remove(gone.workload);
    await change("second-value");
    expect(await platform.state(spec.workload)).toEqual({ serving: 0, current: true });
    expect(await platform.state(gone.workload)).toBeUndefined();
  });

  it("a job gets the value of its start, and neither its message nor its state tells it", async () => {
    const { platform, makeImage, change } = await openWithSecret();
    await change("second-value");
    const spec = jobOf(await makeImage({ printEnv: "TOKEN", jobExit: 3 }), { secretEnv });
    const run = { spec, runID: 1, eventJSON: undefined };
    await platform.runJob(run);
    const done = await untilDone(platform, run);
    expect(JSON.stringify(done)).toContain("the value is ***");
    expect(JSON.stringify(done)).not.toContain("second-value");
  });
});
