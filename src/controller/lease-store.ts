/** Who leads, as all candidates read it. Times are the writers' own and decide nothing. */
export interface LeaseRecord {
  /** Identity of the leader; "" when it let go. */
  readonly holder: string;
  /** For how long candidates wait after its last change, in seconds. */
  readonly durationSec: number;
  /** RFC 3339. */
  readonly acquireTime: string;
  readonly renewTime: string;
  /** How often the leader changed. */
  readonly transitions: number;
}

export interface HeldLease {
  readonly record: LeaseRecord;
  readonly version: string;
}

/** One record that candidates write by compare-and-swap. Calls end when their signal aborts. @throws SlessError */
export interface LeaseStore {
  /** Undefined while there is none. */
  read(signal: AbortSignal): Promise<HeldLease | undefined>;
  /**
   * @param version that it must have now; undefined: there must be none
   * @returns its new version; undefined when somebody else wrote meanwhile
   */
  write(record: LeaseRecord, version: string | undefined, signal: AbortSignal): Promise<string | undefined>;
}
