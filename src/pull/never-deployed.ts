import { type AnyObject, type ObjectOf, refOf, refText } from "../apis/index.ts";
import type { PlacedDefinition } from "../desired/index.ts";
import { looksLikeManifest, parseManifest } from "../manifest/index.ts";
import type { DesiredObject } from "../plan/index.ts";
import type { GitReader } from "../source/index.ts";
import type { FolderState } from "./pull-request.ts";
import { filesOf, type TrackedFiles } from "./tracked-files.ts";

export interface DeployedRequest {
  readonly folder: FolderState;
  /** Objects of the folder, by `refText`, that the server does not have. */
  readonly gone: ReadonlyMap<string, PlacedDefinition>;
  readonly repository: ObjectOf<"Repository">;
  /** Of the checkout. */
  readonly git: GitReader;
}

/**
 * Why objects that the server does not have are not gone from it: they were not in the revision that was last applied,
 * so nobody deleted them there. Those that were are not in the answer.
 */
export async function neverDeployed(request: DeployedRequest): Promise<Map<string, string>> {
  const { folder, gone, repository, git } = request;
  const all = (reason: string) => new Map([...gone.keys()].map((key) => [key, reason]));
  const applied = repository.status?.lastAppliedRevision;
  const commit = applied && /:([0-9a-f]{40,64})$/.exec(applied)?.[1];
  if (!commit) return all(`is not on the server, but ${repository.metadata.name} was never synced`);
  const resolved = await git.resolveExpression(commit).catch(() => undefined);
  if (!resolved)
    return all(`whether it was deployed is not known: ${applied} is not in this clone; fetch it, then pull`);
  const files = await filesOf(git, resolved.tree, folder.scope);
  const never = new Map<string, string>();
  for (const [key, { object }] of gone) {
    if (!(await isDefinedIn(files, key, object, request))) never.set(key, "is not deployed yet");
  }
  return never;
}

async function isDefinedIn(
  files: TrackedFiles,
  key: string,
  { file, intent }: DesiredObject,
  { folder, git }: DeployedRequest,
): Promise<boolean> {
  const applied = files.get(file);
  if (!applied) return false;
  if (applied.id === folder.files.get(file)?.id) return true;
  const bytes = (await git.blobs([applied.id])).get(applied.id)!;
  const text = new TextDecoder().decode(bytes);
  if (!looksLikeManifest(file, text)) return false;
  const { namespace } = intent.metadata;
  const { named } = parseManifest({ file, text, namespace, runtimes: [] });
  return named.some((ref) => refText(ref) === key);
}

/** Objects that the folder has and the server does not, by `refText`. */
export function goneFrom(folder: FolderState, live: readonly AnyObject[]): Map<string, PlacedDefinition> {
  const isLive = new Set(live.map((object) => refText(refOf(object))));
  return new Map([...folder.definitions.objects].filter(([key]) => !isLive.has(key)));
}
