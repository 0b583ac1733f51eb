import { SlessError } from "../errors/index.ts";

export interface EntryFault {
  readonly path: string;
  /** Follows the path: `has a ".." part`. */
  readonly reason: string;
}

export interface EntryName {
  readonly path: string;
  readonly kind: "file" | "link" | "folder";
}

const PATH_MAX_BYTES = 2048;
const NAME_MAX_BYTES = 255;
/** Every folder on the way is compared with all others: their number is not the sender's to choose. */
const DEPTH_MAX = 100;
const FAULTS_SHOWN = 20;

/**
 * What is wrong with the paths of an archive, each by itself and with one another: a path that leaves the folder, that
 * a file system cannot hold, that is there twice or differs in case or Unicode form alone, that lies below a file or a
 * link.
 */
export function entryFaults(entries: readonly EntryName[]): EntryFault[] {
  const seen = new Map<string, EntryName>();
  return entries.flatMap((entry) => {
    const reason = pathFault(entry.path) ?? clash(entry, seen);
    return reason === undefined ? [] : [{ path: entry.path, reason }];
  });
}

/** One plain name, as nearly all are. */
const FAULTLESS = /^[A-Za-z0-9_][-.\w]{0,99}$/;

function pathFault(path: string): string | undefined {
  if (FAULTLESS.test(path)) return undefined;
  if (path === "") return "is an empty name";
  if (path.includes("\0")) return "holds a NUL";
  if (path.includes("\\")) return "holds a backslash";
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "is an absolute path";
  if (!path.isWellFormed() || path.includes("\ufffd")) return "is no UTF-8 text";
  if (Buffer.byteLength(path) > PATH_MAX_BYTES) return `is longer than ${PATH_MAX_BYTES} bytes`;
  const parts = path.split("/");
  if (parts.length > DEPTH_MAX) return `lies deeper than ${DEPTH_MAX} folders`;
  for (const part of parts) {
    if (part === "") return "has an empty part";
    if (part === "." || part === "..") return `has a "${part}" part`;
    if (part.toLowerCase() === ".git") return "belongs to Git";
    if (isDisguisedGit(part)) return "belongs to Git on some systems";
    if (Buffer.byteLength(part) > NAME_MAX_BYTES) return `has a part longer than ${NAME_MAX_BYTES} bytes`;
  }
  return undefined;
}

/** Names that file systems of Windows and macOS take for `.git`; Git itself takes none of them either. */
function isDisguisedGit(part: string): boolean {
  const plain = part.replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "").toLowerCase();
  return /^(?:\.git|git~\d+)[. ]*(?::.*)?$/.test(plain);
}

/** A clash with the entries seen before; remembers this one and its folders, by what case-blind systems see. */
function clash(entry: EntryName, seen: Map<string, EntryName>): string | undefined {
  let reason: string | undefined;
  for (let end = entry.path.indexOf("/"); end >= 0; end = entry.path.indexOf("/", end + 1)) {
    reason ??= clashOfOne({ path: entry.path.slice(0, end), kind: "folder" }, seen);
  }
  return reason ?? clashOfOne(entry, seen);
}

function clashOfOne(entry: EntryName, seen: Map<string, EntryName>): string | undefined {
  const folded = entry.path.normalize("NFC").toLowerCase();
  const other = seen.get(folded);
  if (other === undefined) {
    seen.set(folded, entry);
    return undefined;
  }
  if (other.path !== entry.path)
    return `differs from ${shown(other.path)} in ${differenceOf(other.path, entry.path)} alone`;
  if (other.kind === "folder" && entry.kind === "folder") return undefined;
  if (other.kind === "folder") return "is a folder too";
  return entry.kind === "folder" ? `needs a folder where the ${other.kind} ${shown(entry.path)} is` : "is there twice";
}

/** What some systems do not tell apart. */
function differenceOf(one: string, other: string): string {
  if (one.normalize("NFC") === other.normalize("NFC")) return "how Unicode composes its letters";
  return one.toLowerCase() === other.toLowerCase() ? "case" : "case and how Unicode composes its letters";
}

function shown(path: string): string {
  return JSON.stringify(path.slice(0, NAME_MAX_BYTES));
}

/** One faulty entry, as the `cause` of a refused archive has it. */
class FaultyEntry extends Error implements EntryFault {
  readonly path: string;
  readonly reason: string;

  constructor({ path, reason }: EntryFault) {
    super(`${shown(path)} ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}

/**
 * One error for all faults of an archive. Its `cause` is an AggregateError with one error per fault, for
 * `faultyEntries`; the message shows the first 20.
 */
export function archiveInvalid(faults: readonly EntryFault[]): SlessError {
  const errors = faults.map((fault) => new FaultyEntry(fault));
  const lines = errors.slice(0, FAULTS_SHOWN).map(({ message }) => message);
  const more = errors.length > FAULTS_SHOWN ? `; and ${errors.length - FAULTS_SHOWN} more` : "";
  return new SlessError("archive_invalid", { cause: lines.join("; ") + more }, { cause: new AggregateError(errors) });
}

/** The entries that an archive was refused for; none when it is no archive at all, or for another error. */
export function faultyEntries({ cause }: Error): readonly EntryFault[] {
  return cause instanceof AggregateError ? cause.errors.filter((error) => error instanceof FaultyEntry) : [];
}
