import type { AnyObject, Kind, ObjectOf } from "../apis/index.ts";
import { truncateListed } from "../platform/index.ts";
import type { ListedStatus } from "./listed-status.ts";

/** An object as a list tells it: the result of a job, up to 64 KiB, is cut to 1 KiB and says so. Pure. */
export function listedObject<K extends Kind>(object: ObjectOf<K>): ObjectOf<K> {
  const { kind, status } = object as AnyObject;
  if (kind !== "FunctionJob" || !status || !("message" in status) || status.message === undefined) return object;
  const message = truncateListed(status.message);
  if (message === status.message) return object;
  const cut: ListedStatus = { messageTruncated: true };
  return { ...object, status: { ...status, message, ...cut } as ObjectOf<K>["status"] };
}
