import { type Kind, type ObjectIntent, type ObjectRef, refText } from "../../apis/index.ts";
import { isSlessError, SlessError } from "../../errors/index.ts";
import { type ApiError, isApiError } from "../../kubernetes/index.ts";
import { type FieldMessage, invalidRequest } from "../invalid-request.ts";
import { objectFaults } from "../object-faults.ts";
import { kindResource } from "./kind-resource.ts";
import { serverFaults } from "./server-faults.ts";

/** What was asked for; the name is empty for lists. */
export interface Asked {
  readonly ref: ObjectRef;
  /** What was to be written, for words about its faults. */
  readonly intent?: ObjectIntent;
}

/** The port's error for what an API server answered; what is no answer of one stays as it is. */
export function storeError(error: unknown, asked: Asked): unknown {
  if (isSlessError(error) || !isApiError(error)) return error;
  return ofStatus(error, asked) ?? unavailable(error);
}

/** A CRD that is not installed must not look like objects that are gone. */
export function isAbsent(error: unknown): boolean {
  return isApiError(error, 404) && error.about.name !== "" && error.about.kind !== "namespaces";
}

function ofStatus(error: ApiError, { ref, intent }: Asked): SlessError | undefined {
  const what = refText(ref);
  switch (error.status) {
    case 400:
      return error.message.startsWith("admission webhook") ? refused(error) : invalid(error, ref.kind, intent);
    case 403:
      return isNotCountedYet(error) ? undefined : refused(error);
    case 404:
      return notFound(error, ref);
    case 409:
      return new SlessError(
        error.reason === "AlreadyExists" ? "already_exists" : "conflict",
        { what },
        { cause: error },
      );
    case 410:
      return new SlessError("conflict", { what }, { cause: error });
    case 413:
      return tooLarge(error, what);
    case 422:
      return isOfAnotherLife(error)
        ? new SlessError("conflict", { what }, { cause: error })
        : invalid(error, ref.kind, intent);
    case 500:
      return ofServerFault(error, what, ref.kind, intent);
    default:
      return undefined;
  }
}

/** Some refusals have the status of a fault of the server. */
function ofServerFault(
  error: ApiError,
  what: string,
  kind: Kind,
  intent: ObjectIntent | undefined,
): SlessError | undefined {
  if (/request is too large|message larger than max/.test(error.message)) return tooLarge(error, what);
  if (error.message.startsWith("failed to create typed patch object")) return invalid(error, kind, intent);
  return undefined;
}

function notFound(error: ApiError, ref: ObjectRef): SlessError {
  const { kind, name } = error.about;
  if (kind === "namespaces") return new SlessError("namespace_missing", { namespace: ref.namespace }, { cause: error });
  if (name !== "") return new SlessError("not_found", { what: refText(ref) }, { cause: error });
  const { plural, group } = kindResource(ref.kind);
  const cause = `it knows no ${plural}.${group}; install the CustomResourceDefinitions of sless`;
  return new SlessError("cluster_unavailable", { cause }, { cause: error });
}

/** A quota that is new is counted in a moment; until then nothing that it counts is let in. */
function isNotCountedYet({ message }: ApiError): boolean {
  return message.includes("status unknown for quota");
}

function refused(error: ApiError): SlessError {
  return new SlessError("cluster_refused", { cause: error.message }, { cause: error });
}

function tooLarge(error: ApiError, what: string): SlessError {
  return new SlessError("too_large", { what, limit: "1.5 MiB" }, { cause: error });
}

function unavailable(error: ApiError): SlessError {
  const cause = error.status === 401 ? "it does not accept the credentials of sless" : error.message;
  return new SlessError("cluster_unavailable", { cause }, { cause: error });
}

function isOfAnotherLife({ causes }: ApiError): boolean {
  return causes.some(({ field, message }) => field === "metadata.uid" && /immutable/.test(message));
}

/** The server decides that something is wrong; where we know the same fault, our words say what to do. */
function invalid(error: ApiError, kind: Kind, intent: ObjectIntent | undefined): SlessError {
  const told = serverFaults(error);
  if (told.length === 0) return new SlessError("invalid_request", { cause: error.message }, { cause: error });
  const known = intent ? knownFaults(kind, intent) : [];
  const faults = told.flatMap((fault) => {
    const same = known.filter(({ path }) => path === fault.path || path.startsWith(`${fault.path}.`));
    return same.length > 0 ? same : [fault];
  });
  const unique = new Map(faults.map((fault) => [JSON.stringify(fault), fault]));
  return invalidRequest([...unique.values()], { cause: error });
}

function knownFaults(kind: Kind, { metadata, spec }: ObjectIntent): FieldMessage[] {
  const { labels, annotations, finalizers } = metadata;
  const written = { ...(labels && { labels }), ...(annotations && { annotations }), ...(finalizers && { finalizers }) };
  return objectFaults(kind, metadata, { ...written, spec }).map(({ path, message }) => ({
    path: path.join("."),
    message,
  }));
}
