import { hash } from "node:crypto";

/** A row as the table holds it. */
export interface Row {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly object: string;
  readonly owners: string;
}

/** What a digest of no rows is. */
export const NO_ROWS = "0".repeat(64);

/** Tells a set of rows from every other, in no order; follows single changes. */
export interface RowsDigest {
  /** Takes a row in that is not there, or out if it is. */
  flip(row: Row): void;
  /** 64 hex digits. */
  text(): string;
}

export function rowsDigest(from: string): RowsDigest {
  const sum = Buffer.from(from, "hex");
  return {
    flip({ kind, namespace, name, object, owners }) {
      // None of them holds a line's end: names cannot, and JSON writes it as \n.
      const of = hash("sha256", [kind, namespace, name, object, owners].join("\n"), "buffer");
      for (const [index, byte] of of.entries()) sum[index]! ^= byte;
    },
    text: () => sum.toString("hex"),
  };
}
