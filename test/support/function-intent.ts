import type { ObjectIntent } from "../../src/apis/index.ts";

/** Labels of about 380 bytes each, which are bounded one by one and not together. */
export function manyLabels(count: number): Record<string, string> {
  const prefix = Array.from({ length: 4 }, () => "x".repeat(62)).join(".");
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`${prefix}/${n}-${"x".repeat(50)}`, "x".repeat(63)]),
  );
}

/** A Function of Python with these spec fields; `metadata` adds labels, annotations or finalizers. */
export function functionIntent(
  namespace: string,
  name: string,
  { metadata, ...spec }: ObjectIntent<"Function">["spec"] & { metadata?: object } = {},
): ObjectIntent<"Function"> {
  return { kind: "Function", metadata: { name, namespace, ...metadata }, spec: { runtime: "python3.11", ...spec } };
}
