/** An image of this machine: what the local Builder makes of a source and the process Platform starts. */
export interface LocalImage {
  /** Name of the runtime, `python3.11`. */
  readonly runtime: string;
  /** Folder of the image, absolute. */
  readonly folder: string;
  /** The unpacked source, absolute: `SLESS_SOURCE` and the working folder of a replica. */
  readonly source: string;
  /** The installed dependencies, absolute: `SLESS_DEPS`; an empty folder when there are none. */
  readonly deps: string;
  /** Starts the server of the runtime; the program's path is absolute. Parts may hold `{memoryMB}`, which a replica's spec fills. */
  readonly command: readonly string[];
  /** What the runtime wants in the environment, below the user's own variables. Values may hold `{memoryMB}`. */
  readonly env: Readonly<Record<string, string>>;
}
