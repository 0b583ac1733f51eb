import type { AnyObject, findCondition } from "../apis/index.ts";

/** A build said that it cannot read the source, which is missing or damaged. */
export function lacksSource({ status }: { readonly status?: object | undefined }): boolean {
  const { conditions } = (status ?? {}) as { conditions?: Parameters<typeof findCondition>[0] };
  return conditions?.some(({ reason, status }) => reason === "SourceUnavailable" && status === "False") ?? false;
}

/** The objects whose sources those are: a job may run a function's. */
export function lackingSource(objects: readonly AnyObject[]): AnyObject[] {
  const lacking = objects.filter(lacksSource);
  const functions = new Set(lacking.flatMap((one) => (one.kind === "FunctionJob" ? (one.spec.functionRef ?? []) : [])));
  const isRun = ({ kind, metadata }: AnyObject) => kind === "Function" && functions.has(metadata.name);
  return objects.filter((object) => lacksSource(object) || isRun(object));
}
