/**
 * Bytes by key. A key names its content (design §5), so none is overwritten. Keys are slash-separated, without
 * empty, `.` or `..` parts.
 *
 * @throws SlessError `storage_unavailable`
 */
export interface ObjectStore {
  /** Resolves once the bytes are durable; "present" when the key was there (its bytes stay). */
  put(key: string, body: Uint8Array): Promise<"stored" | "present">;
  get(key: string): Promise<Uint8Array | undefined>;
  has(key: string): Promise<boolean>;
  /** Keys below a prefix, sorted. */
  list(prefix: string): AsyncIterable<string>;
  /** Deleting what is not there is no error. */
  delete(key: string): Promise<void>;
}
