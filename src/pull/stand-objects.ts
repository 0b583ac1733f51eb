import { isDeepStrictEqual } from "node:util";
import {
  ANNOTATIONS,
  type AnyObject,
  type Diagnostic,
  type ObjectIntent,
  type ObjectRef,
  ownerUidOf,
  refOf,
  refText,
  sourceDigestOfKey,
  type WorkloadRef,
} from "../apis/index.ts";
import type { PlacedDefinition } from "../desired/index.ts";
import { contains } from "./folder-files.ts";
import type { PullRequest, PullRow } from "./pull-request.ts";
import { pulledIntent } from "./pulled-intent.ts";

/** A live object that is to stand in the folder. */
export interface Candidate {
  readonly key: string;
  readonly ref: ObjectRef;
  readonly live: AnyObject;
  /** What its manifest must say. */
  readonly intent: ObjectIntent;
  /** As it stands in the folder. */
  readonly present: PlacedDefinition | undefined;
  /** Digest of its source on the server; undefined of objects without code of their own, or without any yet. */
  readonly digest: string | undefined;
}

/** Its manifest does not say yet what it must. */
export function isEdited({ present, intent }: Candidate): boolean {
  return !present || !isDeepStrictEqual(present.object.intent, intent);
}

/** The objects to be written, and the rows of those that are not. */
export interface Standing {
  readonly candidates: readonly Candidate[];
  readonly skipped: readonly PullRow[];
}

/** Which of the chosen live objects the folder is to hold. */
export function standObjects(request: PullRequest): Standing {
  const candidates: Candidate[] = [];
  const skipped: PullRow[] = [];
  for (const live of request.live) {
    const ref = refOf(live) as ObjectRef;
    if (!request.isChosen(ref)) continue;
    const skip = skipReason(live, ref, request);
    if (skip) skipped.push(skippedRow(ref, skip));
    else candidates.push(candidateOf(live, ref, request));
  }
  return { candidates, skipped };
}

function candidateOf(live: AnyObject, ref: ObjectRef, { folder }: PullRequest): Candidate {
  const key = refText(ref);
  const present = folder.definitions.objects.get(key);
  const intent = pulledIntent(live, present?.object.intent);
  return { key, ref, live, intent, present, digest: hasCode(live) ? digestOfLive(live) : undefined };
}

/** Digests of the sources on the server, whoever owns the objects: by `refText`. */
export function liveDigests({ live }: PullRequest): Map<string, string> {
  const digests = new Map<string, string>();
  for (const object of live) {
    const digest = hasCode(object) ? digestOfLive(object) : undefined;
    if (digest !== undefined) digests.set(refText(refOf(object) as ObjectRef), digest);
  }
  return digests;
}

function digestOfLive(live: AnyObject): string | undefined {
  return sourceDigestOfKey(refOf(live) as WorkloadRef, (live.spec as { s3Key?: string }).s3Key);
}

/** Runs code of its own. */
export function hasCode({ kind, spec }: AnyObject): boolean {
  if (kind === "FunctionJob") return spec.functionRef === undefined;
  return kind === "Function" || kind === "Service";
}

/** Why an object is left out, as its row tells it. */
export interface Skip extends Pick<PullRow, "isFault" | "file" | "owner"> {
  readonly reason: string;
}

export function skippedRow(ref: ObjectRef, skip: Skip): PullRow {
  return { ref, action: "skipped", changes: [], written: [], removed: [], kept: [], ...skip };
}

function skipReason(live: AnyObject, ref: ObjectRef, request: PullRequest): Skip | undefined {
  const owner = ownerUidOf(live);
  const name = owner === undefined ? undefined : request.repositoryNames.get(owner);
  if (name !== undefined && owner !== request.repository)
    return { reason: `belongs to repository ${name}`, owner: name };
  if (live.metadata.deletionTimestamp) return { reason: "is being deleted on the server" };
  return standingFault(live, refText(ref), request) ?? sourceFault(live, request);
}

function standingFault(live: AnyObject, key: string, { folder, repository }: PullRequest): Skip | undefined {
  const { definitions, scope } = folder;
  const blocked = definitions.blocked.get(key);
  if (blocked) return faultAt(blocked);
  if (definitions.objects.has(key)) return undefined;
  for (const [file, diagnostic] of definitions.faulty) {
    // What a broken file defines is not known: the object would stand there twice once it is mended.
    if (mayDefine(folder.files.get(file)?.read(), live.metadata.name)) return faultAt(diagnostic);
  }
  const path = live.metadata.annotations?.[ANNOTATIONS.path];
  if (path === undefined || repository === undefined || ownerUidOf(live) !== repository) return undefined;
  const fault = definitions.faulty.get(path);
  if (fault) return faultAt(fault);
  return contains(scope, path) ? undefined : { reason: `stands in ${path}, outside of the folder` };
}

function faultAt({ file, line, message }: Diagnostic): Skip {
  const place = line === undefined ? file : `${file}:${line}`;
  return { reason: `its manifest is not valid; mend it first. ${place}: ${message}`, file, isFault: true };
}

function mayDefine(bytes: Uint8Array | undefined, name: string): boolean {
  return bytes === undefined || Buffer.from(bytes).toString().includes(name);
}

function sourceFault(live: AnyObject, { folder }: PullRequest): Skip | undefined {
  if (!hasCode(live) || digestOfLive(live) !== undefined) return undefined;
  const { s3Key } = live.spec as { s3Key?: string };
  if (s3Key !== undefined) return { reason: "names an archive that is not its own", isFault: true };
  const isPresent = folder.definitions.objects.has(refText(refOf(live) as ObjectRef));
  return isPresent ? undefined : { reason: "has no source yet; upload one, then pull" };
}
