import { expect, it } from "vitest";
import { type ErrorCode, SlessError } from "../../src/errors/index.ts";
import { isOfOneObject } from "../../src/sync/note-failure.ts";

const OF_ONE: ErrorCode[] = ["conflict", "cluster_refused", "too_large", "invalid_request", "not_found", "forbidden"];
it.each(OF_ONE)("%s stops no other object of the repository", (code) => {
  expect(isOfOneObject(new SlessError(code))).toBe(true);
});

const OF_ALL: ErrorCode[] = ["cluster_unavailable", "storage_unavailable", "namespace_missing", "internal"];
it.each(OF_ALL)("%s would meet every object, so the run ends", (code) => {
  expect(isOfOneObject(new SlessError(code))).toBe(false);
});

it("an error that is not of the table ends the run", () => {
  expect(isOfOneObject(new Error("x"))).toBe(false);
});
