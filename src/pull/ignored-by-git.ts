import { refText } from "../apis/index.ts";
import { ignoreRules } from "../source/index.ts";
import { splitPath } from "./folder-files.ts";
import type { PullPlan } from "./plan-pull.ts";
import type { FolderState, PullRow } from "./pull-request.ts";
import { pathsText } from "./unsaved.ts";
import { GIT_IGNORE } from "./walk-folder.ts";

/** Tells of files that `git add` would leave out: without them, what is pushed is not what the server has. */
export function withIgnored({ rows, outcome }: PullPlan, folder: FolderState, exclude: string): readonly PullRow[] {
  const sources = [...outcome.values()].flatMap(({ source }) => (source ? [source.files] : []));
  if (sources.length === 0) return rows;
  const texts = new Map<string, string>([[GIT_IGNORE, exclude]]);
  for (const files of [folder.files, ...sources]) {
    for (const [path, file] of files) {
      const [parent, name] = splitPath(path);
      if (name !== GIT_IGNORE || file.mode === "120000") continue;
      const text = Buffer.from(file.read()).toString();
      texts.set(path, parent === "" ? `${exclude}\n${text}` : text);
    }
  }
  const isIgnored = ignoreRules(texts);
  return rows.map((row) => {
    const files = outcome.get(refText(row.ref))?.source?.files ?? new Map<string, unknown>();
    const ignored = [...files.keys()].filter((path) => !folder.tracked?.has(path) && isIgnored(path, false));
    if (ignored.length === 0) return row;
    const reason = `git ignores ${pathsText(ignored)}; add what is needed with git add --force`;
    return { ...row, reason: row.reason === undefined ? reason : `${row.reason}; ${reason}` };
  });
}
