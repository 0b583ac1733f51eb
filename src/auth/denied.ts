import { createHash } from "node:crypto";
import { GROUP } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import { type Access, accessText, type ResourceAccess } from "./access.ts";
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

/** ClusterRoles that the chart brings, least first; each holds what the ones of its scope before it hold. */
function roleFor(access: Access): string {
  if ("path" in access) return "sless-metrics-reader";
  if (access.resource === "namespaces") return "sless-namespace-creator";
  return isRead(access) ? "sless-viewer" : "sless-editor";
}

function isRead({ verb, group, resource }: ResourceAccess): boolean {
  const isOurs = group === GROUP || resource === "events";
  return isOurs && (verb === "get" || verb === "list");
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
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
  return name === undefined ? `--user=${quoted(username)}` : `--serviceaccount=${quoted(`${namespace}:${name}`)}`;
}

/** One word of a shell, whatever it holds: an administrator may paste it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
