/** An image of this machine: what the local Builder makes of a source and the process Platform starts. */
export interface LocalImage {
  /** Name of the runtime, `python3.11`. */
  readonly runtime: string;
  /** Folder of the image, absolute. */
  readonly folder: string;
  /** The unpacked source, absolute: `SLESS_SOURCE` and the working folder of a replica. */
  readonly source: string;
  /** Starts the server of the runtime; the program's path is absolute. */
  readonly command: readonly string[];
  /** What the runtime wants in the environment, beside the platform's own. */
  readonly env: Readonly<Record<string, string>>;
}
