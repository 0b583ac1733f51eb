import { isSlessError, messageOf, SlessError } from "../../errors/index.ts";
import type { ObjectId } from "../git-reader.ts";
import { isObjectId, isRefName } from "../ref-name.ts";
import { type Access, shownCause } from "./credentials.ts";
import type { GitBody, GitHttp } from "./git-http.ts";
import { type PktLine, pktLine, readPktLines, textOfLine } from "./pkt-line.ts";

export interface RemoteRef {
  readonly id: ObjectId;
  /** Of an annotated tag: what it leads to. */
  readonly peeled?: ObjectId;
}

export interface RemoteRefs {
  /** By full name, `HEAD` too; from a server of protocol 2 only those that were asked for. */
  readonly refs: ReadonlyMap<string, RemoteRef>;
  /** The ref that HEAD names; undefined when it is detached, or nothing was told. */
  readonly head: string | undefined;
}

/** 100,000 refs have about 10 MB. */
const LIST_MAX_MIB = 64;
const AGENT = "agent=git/sless";

/**
 * Lists the refs whose full names begin with a prefix, in one or two short requests. The list is whole, or it throws.
 *
 * @throws SlessError `repository_unreachable`, and what GitHttp throws
 */
export async function listRefs(
  http: GitHttp,
  options: { readonly prefix: string; readonly url: string; readonly access: Access; readonly signal: AbortSignal },
): Promise<RemoteRefs> {
  const unreachable = (cause: string, error?: unknown) =>
    new SlessError("repository_unreachable", { url: options.url, cause }, { cause: error });
  const request = { protocol: "version=2", signal: options.signal, maxBytes: LIST_MAX_MIB << 20 };
  try {
    const { version, lines } = await readAdvertisement(await http.discover(request));
    if (version === 1) return toRefs(lines.map(ofVersion1), headOfVersion1(lines[0]));
    const body = Buffer.from(lsRefs(lines, options.prefix));
    const listed = await linesUntilFlush(readPktLines(await http.uploadPack({ ...request, body })));
    return toRefs(listed.map(ofVersion2), listed.map(headOfVersion2).find(Boolean));
  } catch (error) {
    // Not of the repository, of which nothing was read yet.
    if (isSlessError(error, "repository_too_large"))
      throw unreachable(`its list of refs is longer than ${LIST_MAX_MIB} MiB`);
    if (options.signal.aborted || isSlessError(error)) throw error;
    throw unreachable(shownCause(messageOf(error), options.access), error);
  }
}

/** Version 2 gives its capabilities, all others their refs; the first of them with the capabilities behind a zero byte. */
async function readAdvertisement(body: GitBody): Promise<{ version: 1 | 2; lines: string[] }> {
  const source = readPktLines(body);
  let lines = await linesUntilFlush(source);
  if (lines[0]?.startsWith("# service=") === true) lines = await linesUntilFlush(source);
  // Nothing more is of interest; this ends the body.
  await source.return(undefined);
  if (lines[0] === "version 2") return { version: 2, lines: lines.slice(1) };
  return { version: 1, lines: lines[0] === "version 1" ? lines.slice(1) : lines };
}

async function linesUntilFlush(source: AsyncGenerator<PktLine>): Promise<string[]> {
  const lines: string[] = [];
  for (let next = await source.next(); !next.done; next = await source.next()) {
    if (next.value === "flush") return lines;
    if (typeof next.value === "string") continue;
    const text = textOfLine(next.value);
    if (text.startsWith("ERR ")) throw new Error(`it says: ${text.slice(4)}`);
    lines.push(text);
  }
  // Part of a list would look as if refs had been deleted.
  throw new Error("its answer broke off");
}

function lsRefs(capabilities: readonly string[], prefix: string): string {
  const format = capabilities.find((line) => line.startsWith("object-format="));
  const asked = ["command=ls-refs", AGENT, ...(format === undefined ? [] : [format])];
  const options = ["peel", "symrefs", `ref-prefix ${prefix}`];
  const lines = (texts: readonly string[]) => texts.map((text) => pktLine(`${text}\n`)).join("");
  return `${lines(asked)}0001${lines(options)}0000`;
}

interface Listed {
  readonly name: string;
  readonly id: string;
  readonly peeled?: string | undefined;
}

function ofVersion2(line: string): Listed {
  const [id = "", name = "", ...attributes] = line.split(" ");
  const peeled = attributes.find((attribute) => attribute.startsWith("peeled:"))?.slice("peeled:".length);
  return { name, id, peeled };
}

function headOfVersion2(line: string): string | undefined {
  return / HEAD .*\bsymref-target:(\S+)/.exec(line)?.[1];
}

function ofVersion1(line: string): Listed {
  const [id = "", name = ""] = line.split("\0", 1)[0]!.split(" ");
  return { name, id };
}

function headOfVersion1(line: string | undefined): string | undefined {
  return / symref=HEAD:(\S+)/.exec(line?.replace("\0", " ") ?? "")?.[1];
}

const PEELED = "^{}";

/** @throws Error when an id is none: the whole list is not to be believed then */
function toRefs(listed: readonly Listed[], head: string | undefined): RemoteRefs {
  const refs = new Map<string, RemoteRef>();
  for (const { name, id, peeled } of listed) {
    if (!isObjectId(id) || (peeled !== undefined && !isObjectId(peeled)))
      throw new Error("it is not what a Git server says");
    const tag = name.endsWith(PEELED) ? name.slice(0, -PEELED.length) : undefined;
    const known = tag === undefined ? undefined : refs.get(tag);
    if (tag !== undefined && known) refs.set(tag, { ...known, peeled: id });
    else if (isRefName(name)) refs.set(name, peeled === undefined ? { id } : { id, peeled });
  }
  return { refs, head: head !== undefined && isRefName(head) ? head : undefined };
}
