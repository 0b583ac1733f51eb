/** Bytes at once, or piece by piece. */
export type ObjectBody = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * Bytes by key. A key names its content (design §5), so none is overwritten. Keys are slash-separated, without
 * empty, `.` or `..` parts.
 *
 * @throws SlessError `storage_unavailable`
 */
export interface ObjectStore {
  /**
   * Resolves once the bytes are durable; "present" when the key was there (its bytes stay, and a body in pieces is not
   * read). When a body in pieces fails, nothing is stored and its own error is thrown.
   */
  put(key: string, body: ObjectBody): Promise<"stored" | "present">;
  get(key: string): Promise<Uint8Array | undefined>;
  has(key: string): Promise<boolean>;
  /** Keys below a prefix, sorted. */
  list(prefix: string): AsyncIterable<string>;
  /** Deleting what is not there is no error. */
  delete(key: string): Promise<void>;
}
