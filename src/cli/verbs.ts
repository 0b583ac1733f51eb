import { api } from "./api.ts";
import { approve } from "./approve.ts";
import { completion } from "./completion.ts";
import { controller } from "./controller.ts";
import { create } from "./create.ts";
import { deleteVerb } from "./delete.ts";
import { describe } from "./describe.ts";
import { dev } from "./dev.ts";
import { diff } from "./diff.ts";
import { events } from "./events.ts";
import { exportVerb } from "./export.ts";
import { gateway } from "./gateway.ts";
import { gc } from "./gc.ts";
import { get } from "./get.ts";
import { history } from "./history.ts";
import { init } from "./init.ts";
import { invoke } from "./invoke.ts";
import { logs } from "./logs.ts";
import { plan } from "./plan.ts";
import { pull } from "./pull.ts";
import { reconcile } from "./reconcile.ts";
import { rollback } from "./rollback.ts";
import { secretDelete } from "./secret-delete.ts";
import { secretList } from "./secret-list.ts";
import { secretSet } from "./secret-set.ts";
import { serve } from "./serve.ts";
import { setVerb } from "./set.ts";
import { resume, suspend } from "./suspend.ts";
import { tree } from "./tree.ts";
import type { Verb } from "./verb.ts";
import { version } from "./version.ts";

/** Every verb, in the order of --help. */
export const VERBS: readonly Verb[] = [
  dev,
  init,
  plan,
  diff,
  get,
  describe,
  tree,
  events,
  history,
  reconcile,
  pull,
  exportVerb,
  rollback,
  create,
  setVerb,
  suspend,
  resume,
  approve,
  logs,
  invoke,
  deleteVerb,
  secretSet,
  secretList,
  secretDelete,
  gc,
  controller,
  api,
  gateway,
  serve,
  completion,
  version,
];
