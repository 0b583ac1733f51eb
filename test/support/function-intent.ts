import type { ObjectIntent } from "../../src/apis/index.ts";

/** A Function of Python with these spec fields; `metadata` adds labels, annotations or finalizers. */
export function functionIntent(
  namespace: string,
  name: string,
  { metadata, ...spec }: ObjectIntent<"Function">["spec"] & { metadata?: object } = {},
): ObjectIntent<"Function"> {
  return { kind: "Function", metadata: { name, namespace, ...metadata }, spec: { runtime: "python3.11", ...spec } };
}
