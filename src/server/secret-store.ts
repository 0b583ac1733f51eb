import type { ObjectKey } from "../apis/index.ts";
import type { SecretItem } from "./items.ts";

/** Values to write by key; null removes the key. */
export type SecretValues = ReadonlyMap<string, string | null>;

/**
 * The secrets of namespaces. Values go in; what comes out here are names and keys alone.
 *
 * @throws SlessError `storage_unavailable`; `invalid_request` for a name or key that is none
 */
export interface SecretStore {
  /** Sorted by name, keys sorted too; none of a namespace that is not there. */
  list(namespace: string): Promise<SecretItem[]>;
  get(secret: ObjectKey): Promise<SecretItem | undefined>;
  /**
   * Writes keys of a secret, which is made when it is not there; with `replace` its other keys go. Each key has its old
   * or its new value at any instant. Resolves once all is durable.
   */
  write(
    secret: ObjectKey,
    values: SecretValues,
    options: { replace: boolean },
  ): Promise<{ item: SecretItem; created: boolean }>;
  /** Resolves with false when it was not there. */
  delete(secret: ObjectKey): Promise<boolean>;
}
