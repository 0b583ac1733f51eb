/** Bytes at once, or piece by piece. */
export type ObjectBody = Uint8Array | AsyncIterable<Uint8Array>;

/** An object that is being read. */
export interface ObjectReading {
  /** Of the whole object. */
  readonly bytes: number;
  /**
   * Piece by piece, once; memory holds a few pieces however large it is. It ends only when all came as it was stored: what
   * breaks off or was damaged (`object_damaged`) throws, so that nothing made of the pieces may be used before the end. A
   * connection that breaks is gone on with where it got to. Whoever has it begins to iterate it: until then it holds a
   * file or a connection.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface ReadOptions {
  /** Ends the reading; what is thrown then is its reason. */
  readonly signal?: AbortSignal | undefined;
}

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
  /** All of it, in memory: for what is small. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** For what may be large; undefined when the key is not there. */
  read(key: string, options?: ReadOptions): Promise<ObjectReading | undefined>;
  has(key: string): Promise<boolean>;
  /** Keys below a prefix, sorted. */
  list(prefix: string): AsyncIterable<string>;
  /** The same with sizes and times; what goes meanwhile may be left out. */
  entries(prefix: string): AsyncIterable<ObjectEntry>;
  /** Deleting what is not there is no error. */
  delete(key: string): Promise<void>;
}
