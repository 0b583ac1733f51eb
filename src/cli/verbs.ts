import { approve } from "./approve.ts";
import { describe } from "./describe.ts";
import { dev } from "./dev.ts";
import { get } from "./get.ts";
import { init } from "./init.ts";
import { invoke } from "./invoke.ts";
import { logs } from "./logs.ts";
import { plan } from "./plan.ts";
import { reconcile } from "./reconcile.ts";
import { secretDelete } from "./secret-delete.ts";
import { secretList } from "./secret-list.ts";
import { secretSet } from "./secret-set.ts";
import type { Verb } from "./verb.ts";
import { version } from "./version.ts";

/** Every verb, in the order of --help. */
export const VERBS: readonly Verb[] = [
  dev,
  init,
  plan,
  get,
  describe,
  reconcile,
  approve,
  logs,
  invoke,
  secretSet,
  secretList,
  secretDelete,
  version,
];
