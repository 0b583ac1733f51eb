/** Bytes at once, or piece by piece. */
export type ObjectBody = Uint8Array | AsyncIterable<Uint8Array>;

/** What is known of an object without reading it. */
export interface ObjectEntry {
  readonly key: string;
  readonly bytes: number;
  /** When it was stored, by the clock of the store. */
  readonly storedAt: Date;
}

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
  /** The same with sizes and times; what goes meanwhile may be left out. */
  entries(prefix: string): AsyncIterable<ObjectEntry>;
  /** Deleting what is not there is no error. */
  delete(key: string): Promise<void>;
}
