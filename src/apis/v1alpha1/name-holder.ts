import type { ObjectOf } from "./kinds.ts";

type Callable = ObjectOf<"Function"> | ObjectOf<"Service">;

/**
 * Which of a Function and a Service of one name has its address and its workload. Only writers that look at nothing but
 * their own object (kubectl) make both: then what was there first stays. One that is being deleted has nothing any more.
 * Pure.
 *
 * @returns undefined when neither is there to stay
 */
export function nameHolder(fn: ObjectOf<"Function"> | undefined, service: ObjectOf<"Service"> | undefined) {
  const [first, second] = [service, fn].filter(stays);
  if (!first || !second) return first;
  // Times have whole seconds; of the same one the Service counts, wherever this is decided.
  return second.metadata.creationTimestamp < first.metadata.creationTimestamp ? second : first;
}

function stays(object: Callable | undefined): object is Callable {
  return object !== undefined && object.metadata.deletionTimestamp === undefined;
}
