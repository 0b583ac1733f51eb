/** A row of cells; undefined shows as `-`. */
export type Row = readonly (string | undefined)[];

/** Rows in aligned columns, two spaces apart, header first; control characters of cells do not reach the terminal. */
export function tableLines(header: readonly string[], rows: readonly Row[]): string[] {
  const all = [header, ...rows.map((row) => row.map((cell) => oneLine(cell) || "-"))];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}

/** A text on one line and without control characters, nor those that turn its direction. */
export function oneLine(text: string | undefined): string {
  return (text ?? "").replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, " ").trim();
}

/** The first line of a message, without control characters; what is longer than `max` characters ends with `…`. */
export function firstLine(text: string | undefined, max: number): string {
  const line = oneLine((text ?? "").trimStart().split("\n", 1)[0]);
  // Characters, for half of one is none.
  const characters = line.length > max ? Array.from(line) : [];
  return characters.length > max ? `${characters.slice(0, max - 1).join("")}…` : line;
}

/** How long ago, as kubectl writes it: `12s`, `5m`, `3h`, `2d`. */
export function ageText(since: string | undefined, now: Date): string | undefined {
  if (since === undefined) return undefined;
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(since)) / 1000));
  if (Number.isNaN(seconds)) return undefined;
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** A duration for people: `12ms`, `1.2s`, `1m12s`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)}ms`;
  const seconds = milliseconds / 1000;
  return seconds < 60 ? `${seconds.toFixed(1)}s` : `${Math.floor(seconds / 60)}m${Math.floor(seconds % 60)}s`;
}

/** `main@sha1:0123456` of a full revision, `main@worktree:0123456` of a work tree's. */
export function shortRevision(revision: string): string;
export function shortRevision(revision: string | undefined): string | undefined;
export function shortRevision(revision: string | undefined): string | undefined {
  return revision?.replace(/((?:sha1|sha256|worktree):[0-9a-f]{7})[0-9a-f]+$/, "$1");
}
