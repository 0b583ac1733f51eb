import type { ObjectKey } from "../apis/index.ts";

/**
 * Ways from outside to functions and services that have an address of their own there. A route names its target alone:
 * what comes along it is the gateway's, which knows who may be called.
 */
export interface Routes {
  /** Makes the route exist as it should be; writes nothing when it does. @throws SlessError `cluster_refused`, `cluster_unavailable` */
  publish(target: ObjectKey): Promise<void>;
  /** Removing what is not there is no error. @throws SlessError `cluster_refused`, `cluster_unavailable` */
  withdraw(target: ObjectKey): Promise<void>;
  /** The targets of all routes that are there, by whomever they were made; from memory. */
  list(): readonly ObjectKey[];
  /** Hears when a route comes, goes or is changed by anybody. Returns the way to unlisten. */
  onChange(listener: (target: ObjectKey) => void): () => void;
}
