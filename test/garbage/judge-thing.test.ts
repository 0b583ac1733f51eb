import { describe, expect, it } from "vitest";
import { judgeThing } from "../../src/garbage/judge-thing.ts";
import { referencesOf } from "../../src/garbage/references.ts";
import type { Sort, Thing } from "../../src/garbage/thing.ts";
import { DAY_MS, digest, HOUR_MS, imageOf, source, workload } from "./garbage-world.ts";

const NOW = new Date("2026-01-10T00:00:00Z");
const ago = (ms: number) => new Date(NOW.getTime() - ms);

const hello = workload("Function", "hello", {
  wants: "c",
  serves: "b",
  imageRef: imageOf("hello", "b"),
  history: [
    ["b", imageOf("hello", "b")],
    ["a", imageOf("hello", "a")],
  ],
});
const web = workload("Service", "web", { wants: "a" });
const report = workload("FunctionJob", "report", { wants: "a", imageRef: imageOf("job_report", "1") });
const nightly = workload("FunctionJob", "nightly", { functionRef: "hello" });
const references = referencesOf([hello, web, report, nightly], [imageOf("other", "9")]);
const layers = new Set(["sha256:live"]);

const object = (id: string, sort: Sort = "source"): Thing => ({ id, sort, name: id, bytes: 1, usedAt: undefined });

interface ImageFields {
  readonly sort?: Sort;
  readonly isNewest?: boolean;
  readonly source?: string;
  readonly layers?: readonly string[];
}

function image(repository: string, text: string, fields: ImageFields = {}): Thing {
  const { sort = "image", isNewest = false, source: of, layers: has = ["sha256:base"] } = fields;
  const details = { sourceDigest: of && digest(of), layers: has, bytes: 1 };
  return {
    ...object(`images/${repository}/${text}`, sort),
    image: { repository, digest: `sha256:${digest(text)}`, isNewest, details },
  };
}

const kept: Record<string, [Thing, string]> = {
  "the source that a function wants": [object(source("hello", "c")), "Function/demo/hello has it as its source"],
  "the source that a function serves": [object(source("hello", "b")), "Function/demo/hello serves it"],
  "a source that can be gone back to": [object(source("hello", "a")), "can be rolled back to number 1"],
  "the source of a service": [object(source("web", "a")), "Service/demo/web has it as its source"],
  "the source of a job": [object(`jobs/demo/report/${digest("a")}.zip`), "FunctionJob/demo/report has it"],
  "the log of a build of a workload that is there": [
    object("builds/jobs/demo/report/2026-01-01T00-00-00.000Z.log", "log"),
    "its workload is there",
  ],
  "the image that serves": [image("sless-demo_hello", "b"), "Function/demo/hello runs it"],
  "an image that can be gone back to": [image("sless-demo_hello", "a"), "can be rolled back to number 1"],
  "an image that a job ran": [image("sless-demo_job_report", "1"), "FunctionJob/demo/report runs it"],
  "an image that runs though no object says so": [image("sless-demo_gone", "9"), "a pod or process runs it"],
  "the same image in another namespace": [image("sless-other_hello", "b"), "Function/demo/hello runs it"],
  "the newest image of a wanted source": [
    image("sless-demo_hello", "7", { isNewest: true, source: "c" }),
    "the image of a source that is wanted",
  ],
  "the image of the function that a job names": [
    image("sless-demo_job_nightly", "7", { isNewest: true, source: "c" }),
    "the image of a source that is wanted",
  ],
  "dependencies that a serving image stands on": [
    image("sless-deps", "7", { sort: "dependencies", layers: ["sha256:base", "sha256:live"] }),
    "an image that serves stands on it",
  ],
  "an image of which nothing is known but that it is shared": [
    image("sless-base", "7", { sort: "base", layers: [] }),
    "no layer that could tell",
  ],
};

const unreferred: Record<string, Thing> = {
  "a source that served too long ago": object(source("hello", "9")),
  "the source of a function that is gone": object(source("gone", "a")),
  "the same source of another function": object(source("web", "b")),
  "the same source in another namespace": object(source("hello", "b", "other")),
  "the log of a build of a workload that is gone": object("builds/functions/demo/report/2026.log", "log"),
  "a context of a build": object("contexts/demo/hello/1.tar.gz", "context"),
  "an image on an older base": image("sless-demo_hello", "7", { source: "c" }),
  "an image of a source that is not wanted any more": image("sless-demo_hello", "7", { isNewest: true, source: "a" }),
  "an image without a label": image("sless-demo_hello", "7", { isNewest: true }),
  "dependencies of which only the base serves": image("sless-deps", "7", {
    sort: "dependencies",
    layers: ["sha256:live", "sha256:mine"],
  }),
};

function judge(thing: Thing, unusedSince: Date | undefined, usedAt?: Date) {
  return judgeThing({
    thing: { ...thing, usedAt },
    references,
    layers,
    unusedSince,
    now: NOW,
    graceMs: DAY_MS,
  });
}

describe("however long it was marked, it stays:", () => {
  it.each(Object.entries(kept))("%s", (_name, [thing, why]) => {
    const verdict = judge(thing, ago(1000 * DAY_MS), ago(1000 * DAY_MS));
    expect(verdict).toEqual({ action: "keep", why: expect.stringContaining(why) });
  });
});

describe("it goes once nothing has referred to it for the grace time:", () => {
  it.each(Object.entries(unreferred))("%s", (_name, thing) => {
    expect(judge(thing, ago(DAY_MS))).toMatchObject({ action: "remove" });
    expect(judge(thing, ago(DAY_MS - 1))).toMatchObject({ action: "wait", goesAt: new Date(NOW.getTime() + 1) });
  });

  it("it is never removed when it is first seen, however old it is", () => {
    const verdict = judge(object(source("gone", "a")), undefined, ago(1000 * DAY_MS));
    expect(verdict).toMatchObject({ action: "wait", goesAt: new Date(NOW.getTime() + DAY_MS) });
  });

  it("it waits after it was stored anew, though it was marked long ago", () => {
    const verdict = judge(object(source("gone", "a")), ago(30 * DAY_MS), ago(HOUR_MS));
    expect(verdict).toMatchObject({ action: "wait", goesAt: new Date(NOW.getTime() + 23 * HOUR_MS) });
  });
});
