import { SlessError } from "../errors/index.ts";
import type { SecretValues } from "../server/secret-store.ts";

type Data = Readonly<Record<string, string>>;

/**
 * The data of a secret, base64, after a write. Pure.
 *
 * @returns `before` itself when nothing changes
 * @throws SlessError `invalid_request` when two keys differ only in case, as on a file system they would be one
 */
export function changedData(before: Data, values: SecretValues, { replace }: { replace: boolean }): Data {
  const kept = Object.entries(before).filter(([key]) => !values.has(key) && !replace);
  const written = [...values].flatMap(([key, value]) =>
    value === null ? [] : [[key, Buffer.from(value).toString("base64")] as const],
  );
  const after = Object.fromEntries([...kept, ...written]);
  refuseCollisions(Object.keys(after));
  const isSame =
    Object.keys(after).length === Object.keys(before).length &&
    Object.entries(after).every(([key, value]) => Object.hasOwn(before, key) && before[key] === value);
  return isSame ? before : after;
}

function refuseCollisions(keys: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const key of keys) {
    const other = seen.get(key.toLowerCase());
    if (other !== undefined)
      throw new SlessError("invalid_request", {
        cause: `keys ${other} and ${key} differ only in upper and lower case`,
      });
    seen.set(key.toLowerCase(), key);
  }
}
