/** Something that one may do, in the words of Kubernetes' RBAC. */
export type Access = ResourceAccess | PathAccess;

export interface ResourceAccess {
  /** `get`, `list`, `create`, `update`, `patch`, `delete`. */
  readonly verb: string;
  /** "" for the core group. */
  readonly group: string;
  /** Plural, `functions`. */
  readonly resource: string;
  readonly subresource?: string;
  /** Without it the resource is cluster-scoped. */
  readonly namespace?: string;
  readonly name?: string;
}

/** A URL of the server that stands for no resource. */
export interface PathAccess {
  readonly verb: string;
  readonly path: string;
}

/** `create functions/invoke.sless.kube5s.ru "hello" in namespace "a"`, as `kubectl auth can-i` names resources. */
export function accessText(access: Access): string {
  if ("path" in access) return `${access.verb} ${access.path}`;
  const { verb, group, resource, subresource, namespace, name } = access;
  const kind = `${resource}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
  const named = name === undefined ? "" : ` ${JSON.stringify(name)}`;
  return `${verb} ${kind}${named}${namespace === undefined ? "" : ` in namespace ${JSON.stringify(namespace)}`}`;
}
