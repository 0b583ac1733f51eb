/** What a measurement is given. */
export interface BenchContext {
  /** A folder of its own, which goes at the end. */
  readonly folder: string;
  /** Functions of the generated repository. */
  readonly count: number;
  /** Pushes per language. */
  readonly pushes: number;
  /** Bare repository of `count` functions, made at the first call; nobody commits to it. */
  repository(): Promise<string>;
  /** Tells what is being done. */
  say(line: string): void;
}
