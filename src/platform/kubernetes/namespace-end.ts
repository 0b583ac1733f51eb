import { deployNamespaceOf, userNamespaceOf } from "../../apis/index.ts";
import { isSlessError, SlessError } from "../../errors/index.ts";
import { isApiError } from "../../kubernetes/index.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { LiveNamespace } from "./live-objects.ts";

/** What the deletion of a namespace waits for, as Kubernetes tells it: names of resources and finalizers. */
const LEFT_MAX = 1_000;

/** Why nothing can be written into the deploy namespace of this namespace; undefined while it is not going. */
export function namespaceEnd(view: Pick<ClusterView, "namespaces">, namespace: string): SlessError | undefined {
  const name = deployNamespaceOf(namespace);
  const left = leftIn(view.namespaces.get(undefined, name));
  return left === undefined ? undefined : new SlessError("namespace_terminating", { namespace: name, left });
}

/** The same for an error that says so, which a watch may not have told yet; undefined for every other one. */
export function namespaceEndOf(
  error: unknown,
  view: Pick<ClusterView, "namespaces">,
  namespace: string,
): SlessError | undefined {
  if (isSlessError(error, "namespace_terminating")) return error;
  const isRefused = isApiError(error, 403) && /is being terminated/.test(error.message);
  if (!isRefused && !isSlessError(error, "being_deleted")) return undefined;
  const left = "what is in it goes first";
  return (
    namespaceEnd(view, namespace) ??
    new SlessError("namespace_terminating", { namespace: deployNamespaceOf(namespace), left })
  );
}

/** Hears of the namespaces whose deploy namespace begins to go, gets on with it, or is gone. */
export function onNamespaceEnd(
  view: Pick<ClusterView, "namespaces">,
  listener: (namespace: string) => void,
): () => void {
  return view.namespaces.onChange((object, before, isGone) => {
    const namespace = userNamespaceOf(object.metadata.name);
    if (namespace === undefined || leftIn(before) === leftIn(isGone ? undefined : object)) return;
    listener(namespace);
  });
}

function leftIn(live: LiveNamespace | undefined): string | undefined {
  if (live?.metadata.deletionTimestamp === undefined) return undefined;
  const { finalizers = [], deletionTimestamp } = live.metadata;
  const told = (live.status?.conditions ?? [])
    .filter(({ type, status, message }) => type.startsWith("Namespace") && status === "True" && message)
    .map(({ message = "" }) => message.replace(/\.+$/, ""));
  const own = finalizers.length > 0 ? [`it has finalizers of its own: ${finalizers.join(", ")}`] : [];
  const left = [...told, ...own].join("; ") || "what is in it goes first";
  return `since ${deletionTimestamp}, ${left}`.slice(0, LEFT_MAX).toWellFormed();
}
