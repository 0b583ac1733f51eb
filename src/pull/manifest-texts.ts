import { editManifest, type ManifestEdit } from "../manifest/index.ts";
import { fileInMemory } from "./folder-files.ts";
import type { Place } from "./new-places.ts";
import { type FileChange, type PullRequest, seen } from "./pull-request.ts";
import { type Candidate, isEdited, type Skip } from "./stand-objects.ts";

interface Edited {
  readonly candidate: Candidate;
  readonly place: Place;
}

export interface ManifestTexts {
  readonly changes: readonly FileChange[];
  /** Objects that cannot be written into their file. */
  readonly failed: readonly { readonly candidate: Candidate; readonly why: Skip }[];
}

/**
 * The manifests after a pull: changed documents edited, new ones added, those of `going` removed. A file without a
 * document left goes.
 */
export function manifestTexts(
  wanted: readonly Edited[],
  going: ReadonlyMap<string, Place>,
  { folder }: PullRequest,
): ManifestTexts {
  const changes: FileChange[] = [];
  const failed: { candidate: Candidate; why: Skip }[] = [];
  const edited = wanted.filter(({ candidate }) => isEdited(candidate));
  const files = Map.groupBy(edited, ({ place }) => place.file);
  const goneFrom = Map.groupBy(going.keys(), (key) => going.get(key)!.file);
  for (const file of new Set([...files.keys(), ...goneFrom.keys()])) {
    const before = folder.files.get(file);
    // With its byte order mark.
    const old = before ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(before.read()) : "";
    let text = old;
    const objects: string[] = [];
    for (const key of goneFrom.get(file) ?? []) {
      const { intent } = folder.definitions.objects.get(key)!.object;
      text = editManifest(text, { remove: [intent] }) ?? text;
      objects.push(key);
    }
    for (const { candidate } of files.get(file) ?? []) {
      const next = editManifest(text, editOf(candidate));
      if (next === undefined) failed.push({ candidate, why: cannotEdit(candidate, file) });
      else {
        text = next;
        objects.push(candidate.key);
      }
    }
    if (text === old) continue;
    const now = text === "" ? null : fileInMemory(Buffer.from(text), before?.mode ?? "100644", folder.format);
    changes.push({ path: file, file: now, isManifest: true, before: seen(folder.lookAt(file)), objects });
  }
  return { changes, failed };
}

function editOf({ present, intent }: Candidate): ManifestEdit {
  return present ? { change: [intent] } : { append: [intent] };
}

function cannotEdit({ intent }: Candidate, file: string): Skip {
  const reason = `${file} cannot be made to say what the server has without rewriting it; change ${intent.metadata.name} there by hand`;
  return { reason, file, isFault: true };
}
