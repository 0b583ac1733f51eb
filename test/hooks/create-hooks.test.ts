import { expect, it } from "vitest";
import { SlessError } from "../../src/errors/index.ts";
import { eventually } from "../support/eventually.ts";
import { FORGE, hooksFixture, KEY, PUSH, pieces, TOKEN } from "./hooks-fixture.ts";
import { github } from "./sign.ts";

const COMMIT = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "taken",
    (error: unknown) => (error instanceof SlessError ? error.code : String(error)),
  );

it("a signed push is a hint to look at the repository", async () => {
  const { push, hinted, outcomes } = await hooksFixture();
  expect(await push()).toEqual({ sync: "requested" });
  expect(hinted).toEqual(["default/main"]);
  expect(outcomes).toEqual(["requested"]);
});

it("what is not understood is a hint, too", async () => {
  const { push, hinted, clock } = await hooksFixture();
  for (const body of ["no JSON", "", "{}", JSON.stringify({ action: "released" })]) {
    expect(await push(body)).toEqual({ sync: "requested" });
    clock.advance(2_000);
  }
  expect(hinted).toHaveLength(4);
});

it("a payload too long to be looked into is checked all the same, and a hint", async () => {
  const { push, deliver, hinted } = await hooksFixture();
  const long = JSON.stringify({ ref: "refs/heads/other", text: "x".repeat(2_000_000) });
  expect(await push(long)).toEqual({ sync: "requested" });
  expect(await codeOf(deliver(github("wrong", long), long))).toBe("hook_refused");
  expect(hinted).toHaveLength(1);
});

it("a ping, a push to another ref, and a push to a suspended repository are taken and ask for nothing", async () => {
  const { deliver, push, repository, hinted, outcomes } = await hooksFixture();
  await repository("rests", { suspend: true, webhookSecretRef: { name: "hook" } });
  const other = JSON.stringify({ ref: "refs/heads/other" });
  const answers = [
    await deliver({ "x-github-event": "ping", ...github(TOKEN, "{}") }, "{}"),
    await push(other),
    await push(PUSH, { ...KEY, name: "rests" }),
  ];
  expect(answers).toEqual([
    { sync: "none", reason: "it is a ping" },
    { sync: "none", reason: "it is about a ref that is not followed" },
    { sync: "none", reason: "the repository is suspended" },
  ]);
  expect(hinted).toEqual([]);
  expect(outcomes).toEqual(["ping", "other_ref", "suspended"]);
});

it("what is refused is refused in the same words, whatever is missing", async () => {
  const { deliver, repository, secrets, hinted, outcomes } = await hooksFixture();
  await repository("open", {});
  await repository("lost", { webhookSecretRef: { name: "gone" } });
  await repository("empty", { webhookSecretRef: { name: "empty" } });
  secrets.set("default/empty/token", "\n");
  const to = (name: string) => ({ ...KEY, name });
  const refused = [
    deliver(github("wrong", PUSH)),
    deliver({}),
    deliver({ "x-gitlab-token": "wrong" }),
    deliver({ "x-gitlab-token": "" }),
    ...["open", "lost", "empty", "nowhere"].map((name) => deliver(github(TOKEN, PUSH), PUSH, to(name))),
    deliver(github("", PUSH), PUSH, to("empty")),
    deliver(github("\n", PUSH), PUSH, to("empty")),
    deliver(github(TOKEN, PUSH), PUSH, { namespace: "elsewhere", name: "main" }),
  ];
  const errors = await Promise.all(refused.map((answer) => answer.catch((error: SlessError) => error)));
  expect(new Set(errors.map((error) => JSON.stringify([error, (error as SlessError).message]))).size).toBe(1);
  expect(errors[0]).toMatchObject({ code: "hook_refused", status: 401 });
  expect(hinted).toEqual([]);
  expect(new Set(outcomes)).toEqual(new Set(["refused"]));
});

it("a delivery to nobody takes the reads of one to somebody", async () => {
  const { deliver, reads, repository } = await hooksFixture();
  await repository("open", {});
  const counts = [];
  for (const name of ["main", "open", "nowhere"]) {
    const before = reads.length;
    await codeOf(deliver(github("wrong", PUSH), PUSH, { ...KEY, name }));
    counts.push(reads.length - before);
  }
  expect(counts).toEqual([2, 2, 2]);
});

it("while a secret is changed both values count, then only the new one", async () => {
  const { deliver, secrets, clock } = await hooksFixture();
  const results = async () => {
    clock.advance(1_000);
    return [await codeOf(deliver(github(TOKEN, PUSH))), await codeOf(deliver(github("new", PUSH)))];
  };
  expect(await results()).toEqual(["taken", "hook_refused"]);
  secrets.set("default/hook/token", "new").set("default/hook/token.previous", TOKEN);
  expect(await results()).toEqual(["taken", "taken"]);
  secrets.delete("default/hook/token.previous");
  expect(await results()).toEqual(["hook_refused", "taken"]);
});

it("a line end after a value does not count", async () => {
  const { push, secrets } = await hooksFixture();
  secrets.set("default/hook/token", `${TOKEN}\r\n`);
  expect(await codeOf(push())).toBe("taken");
});

it.each([
  ["that is no text", Buffer.from([0xff, 0xfe, 0x61, 0x80]).toString("utf8")],
  ["that is longer than any forge takes", "x".repeat(5_000)],
  ["of line ends that do not end it", `${"\n".repeat(1_000_000)}x`],
])("a value %s counts as none", async (_what, value) => {
  const { deliver, secrets, logged } = await hooksFixture();
  secrets.set("default/hook/token", value);
  expect(await codeOf(deliver(github(value, PUSH)))).toBe("hook_refused");
  expect(logged).toContainEqual(expect.objectContaining({ level: "warn", fields: { ...KEY, reason: "no token" } }));
});

it("a flood of deliveries reads once a second and hints once in two", async () => {
  const { push, deliver, reads, hinted, clock } = await hooksFixture();
  for (let step = 0; step < 100; step += 1) {
    await push();
    await codeOf(deliver(github("wrong", PUSH)));
    clock.advance(100);
  }
  expect(reads.length / 2).toBeLessThanOrEqual(11);
  expect(hinted.length).toBeLessThanOrEqual(6);
  clock.advance(2_000);
  const last = hinted.length;
  await push();
  expect(hinted).toHaveLength(last + 1);
});

it("a flood of deliveries to made-up names reads little, logs once and keeps out nobody who was let in before", async () => {
  const flooded = Promise.withResolvers<undefined>();
  let madeUpReads = 0;
  const { hooks, push, deliver, hinted, outcomes, logged, clock } = await hooksFixture({
    readSecret: async (_namespace, _name, key) => (key === "token" ? TOKEN : undefined),
    store: {
      async get(_kind: unknown, { name }: { name: string }) {
        if (name !== "main") {
          madeUpReads += 1;
          return flooded.promise;
        }
        return { metadata: { ...KEY, uid: "1" }, spec: { webhookSecretRef: { name: "hook" } } } as never;
      },
    } as never,
  });
  await push();
  const flood = Array.from({ length: 5_000 }, (_, index) =>
    codeOf(deliver(github("wrong", PUSH), PUSH, { namespace: `made-up-${index % 50}`, name: `repository-${index}` })),
  );
  for (let turn = 0; turn < 20; turn += 1) {
    clock.advance(2_000);
    expect(await push()).toEqual({ sync: "requested" });
  }
  expect(madeUpReads).toBeLessThanOrEqual(16);
  expect(hinted).toHaveLength(21);
  expect(outcomes.filter((outcome) => outcome === "busy").length).toBeGreaterThan(4_900);
  expect(logged.filter(({ level }) => level === "warn")).toHaveLength(1);
  flooded.resolve(undefined);
  expect(new Set(await Promise.all(flood))).toEqual(new Set(["hook_refused", "hooks_busy"]));
  await hooks.close();
});

it("a repository that is gone has the place of a made-up name again", async () => {
  const slow = Promise.withResolvers<undefined>();
  let isThere = true;
  const { hooks, push, deliver, clock } = await hooksFixture({
    readSecret: async (_namespace, _name, key) => (key === "token" ? TOKEN : undefined),
    store: {
      async get(_kind: unknown, { name }: { name: string }) {
        if (name !== "main") return slow.promise;
        return isThere ? { metadata: { ...KEY, uid: "1" }, spec: { webhookSecretRef: { name: "hook" } } } : undefined;
      },
    } as never,
  });
  await push();
  const flood = Array.from({ length: 16 }, (_, index) =>
    codeOf(deliver(github("wrong", PUSH), PUSH, { ...KEY, name: `repository-${index}` })),
  );
  isThere = false;
  clock.advance(2_000);
  expect(await codeOf(push())).toBe("hook_refused");
  expect(await codeOf(push())).toBe("hooks_busy");
  slow.resolve(undefined);
  await Promise.all(flood);
  await hooks.close();
});

it("a push right after another one is looked at, though later", async () => {
  const { push, hinted, clock } = await hooksFixture();
  await push();
  await push();
  expect(hinted).toHaveLength(1);
  clock.advance(2_000);
  expect(hinted).toHaveLength(2);
});

it("a hint that waits is given when the process stops", async () => {
  const { hooks, push, hinted } = await hooksFixture();
  await push();
  await push();
  await hooks.close();
  expect(hinted).toHaveLength(2);
});

it("slow deliveries give way to what comes, and are told to come again", async () => {
  const { hooks, push, outcomes, repository, logged } = await hooksFixture();
  await repository("other", { webhookSecretRef: { name: "hook" } });
  let begun = 0;
  async function* slow(signal: AbortSignal) {
    begun += 1;
    yield* pieces("{");
    await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }
  const headers = github(TOKEN, PUSH);
  const waiting = Array.from({ length: 8 }, () => codeOf(hooks.receive(KEY, { headers, from: FORGE, body: slow })));
  await eventually(
    "all of them are under way",
    () => begun,
    (count) => count === 8,
  );
  for (let more = 0; more < 20; more += 1) expect(await codeOf(push())).toBe("taken");
  expect(await waiting[0]).toBe("hooks_busy");
  expect(await codeOf(push(PUSH, { ...KEY, name: "other" }))).toBe("taken");
  expect(outcomes.filter((outcome) => outcome === "busy")).toHaveLength(1);
  expect(logged.filter(({ level }) => level === "warn")).toEqual([
    { level: "warn", fields: KEY, message: "too many webhook deliveries at once" },
  ]);
});

it("a body that breaks off gives no hint and keeps no room", async () => {
  const { hooks, push, hinted, outcomes } = await hooksFixture();
  async function* broken() {
    yield Buffer.from(PUSH);
    throw new SlessError("invalid_request", { cause: "its body broke off" });
  }
  for (let turn = 0; turn < 20; turn += 1)
    expect(await codeOf(hooks.receive(KEY, { headers: github(TOKEN, PUSH), from: FORGE, body: broken }))).toBe(
      "invalid_request",
    );
  expect(hinted).toEqual([]);
  expect(await codeOf(push())).toBe("taken");
  expect(outcomes).toContain("failed");
});

it("a secret that cannot be read is told without its reason, and read again with the next delivery", async () => {
  let isAway = true;
  const { push, deliver, logged } = await hooksFixture({
    readSecret: async (_namespace, _name, key) => {
      if (isAway) throw new SlessError("cluster_unavailable", { cause: "it is away" });
      return key === "token" ? TOKEN : undefined;
    },
  });
  expect(await codeOf(push())).toBe("hooks_unavailable");
  const nowhere = await deliver(github("wrong", PUSH), PUSH, { ...KEY, name: "nowhere" }).catch((error) => error);
  expect(nowhere).toMatchObject({ code: "hooks_unavailable", message: expect.not.stringContaining("away") });
  expect(logged.filter(({ level }) => level === "warn")).toMatchObject([
    { fields: { err: expect.stringContaining("away") } },
  ]);
  isAway = false;
  expect(await codeOf(push())).toBe("taken");
});

it("a hint that cannot be given fails the delivery", async () => {
  const { push } = await hooksFixture({
    hint: () => Promise.reject(new SlessError("cluster_unavailable", { cause: "it is away" })),
  });
  expect(await codeOf(push())).toBe("hooks_unavailable");
});

it("a name that no repository can have is refused as any other, and neither read nor logged", async () => {
  const { deliver, reads, logged } = await hooksFixture();
  for (const name of ["UPPER", "a b", "", "x".repeat(300), "main\n", "../main"])
    expect(await codeOf(deliver(github(TOKEN, PUSH), PUSH, { ...KEY, name }))).toBe("hook_refused");
  expect([reads, logged]).toEqual([[], []]);
});

it("a commit that was announced and not found is looked for again, for a minute", async () => {
  const { push, hinted, clock } = await hooksFixture();
  await push(JSON.stringify({ ref: "refs/heads/main", after: COMMIT }));
  const counts: number[] = [];
  for (const ms of [5_000, 15_000, 45_000, 3_600_000]) {
    clock.advance(ms);
    // The look reads the store.
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    counts.push(hinted.length);
  }
  expect(counts).toEqual([2, 3, 4, 4]);
});

it("a commit that was fetched is looked for no more", async () => {
  const { push, hinted, clock, store } = await hooksFixture();
  await push(JSON.stringify({ ref: "refs/heads/main", after: COMMIT }));
  const live = await store.get("Repository", KEY);
  await store.updateStatus(live!, { lastFetchedRevision: `main@sha1:${COMMIT}` });
  for (let turn = 0; turn < 10; turn += 1) {
    clock.advance(60_000);
    for (let tick = 0; tick < 20; tick += 1) await Promise.resolve();
  }
  expect(hinted).toHaveLength(1);
  expect(clock.timers()).toEqual([]);
});

it("neither log nor answer holds a secret or a signature, and a wrong secret is told once a minute", async () => {
  const { deliver, push, logged, clock, secrets } = await hooksFixture();
  const answers: unknown[] = [await push()];
  for (let turn = 0; turn < 200; turn += 1) {
    answers.push(await deliver({ "x-gitlab-token": "wrong-token" }).catch((error: Error) => error.message));
    clock.advance(1_000);
  }
  secrets.delete("default/hook/token");
  clock.advance(1_000);
  await codeOf(push());
  const warned = logged.filter(({ level }) => level === "warn");
  expect(warned.length).toBeGreaterThan(1);
  expect(warned.length).toBeLessThan(6);
  expect(warned[0]).toEqual({
    level: "warn",
    fields: { namespace: "default", name: "main", reason: "wrong signature" },
    message: "webhook delivery refused",
  });
  const text = JSON.stringify([logged, answers]);
  for (const secret of [TOKEN, "wrong-token", github(TOKEN, PUSH)["x-hub-signature-256"]])
    expect(text).not.toContain(secret);
});
