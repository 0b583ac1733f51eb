import { createHash } from "node:crypto";
import { GROUP } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import { type Access, accessText, type ResourceAccess } from "./access.ts";
import { accountOf } from "./account.ts";
import type { Subject } from "./authority.ts";

/** The refusal of an access, with the command that an administrator may run to grant it. */
export function denied(subject: Subject, access: Access): SlessError {
  const { username } = subject;
  return new SlessError("access_denied", {
    subject: username,
    action: accessText(access),
    grant: grantOf(subject, access),
  });
}

/** The least of the ClusterRoles of the chart that holds it. */
function roleFor(access: Access): string {
  if ("path" in access) return "sless-metrics-reader";
  if (access.resource === "namespaces") return "sless-namespace-creator";
  return isForViewers(access) ? "sless-viewer" : "sless-tenant-editor";
}

/** Code is for those who may change it. */
function isForViewers({ verb, group, subresource }: ResourceAccess): boolean {
  return group === GROUP && (verb === "get" || verb === "list") && subresource !== "source";
}

function grantOf({ username }: Subject, access: Access): string {
  const role = roleFor(access);
  const namespace = "path" in access ? undefined : access.namespace;
  const kind = namespace === undefined ? "clusterrolebinding" : "rolebinding";
  const suffix = createHash("sha256").update(username).digest("hex").slice(0, 8);
  const where = namespace === undefined ? "" : ` --namespace=${quoted(namespace)}`;
  return `kubectl create ${kind} ${role}-${suffix} --clusterrole=${role} ${whom(username)}${where}`;
}

function whom(username: string): string {
  const account = accountOf(username);
  if (account.kind === "User") return `--user=${quoted(account.name)}`;
  return `--serviceaccount=${quoted(`${account.namespace}:${account.name}`)}`;
}

/** One word of a shell, whatever it holds: an administrator may paste it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
