import { GROUP, KINDS, type Kind, VERSION } from "../../apis/index.ts";
import type { ApiResource } from "../../kubernetes/index.ts";

/** REST coordinates of a kind of ours. */
export function kindResource(kind: Kind): ApiResource {
  return { group: GROUP, version: VERSION, kind, plural: KINDS[kind].plural };
}
