import { SlessError } from "../errors/index.ts";

/** A message about what stands at a path, `spec.memoryMB`; "" is the object itself. */
export interface FieldMessage {
  readonly path: string;
  readonly message: string;
}

/** `invalid_request`: besides `cause` its details hold one message per faulty path. */
export function invalidRequest(faults: readonly FieldMessage[], options?: { cause?: unknown }): SlessError {
  const byPath = new Map<string, string>();
  for (const { path, message } of faults) {
    const where = path || "object";
    const before = byPath.get(where);
    byPath.set(where, before ? `${before}; ${message}` : message);
  }
  const cause = [...byPath].map(([where, message]) => `${where}: ${message}`).join("; ");
  return new SlessError("invalid_request", { ...Object.fromEntries(byPath), cause }, options);
}
