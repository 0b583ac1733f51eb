import { readWholeSource, type WholeSource, type WholeSourceRequest } from "../desired/index.ts";
import { SlessError } from "../errors/index.ts";
import { fileTree, type StoredFile } from "../source/index.ts";
import { RefusedRequest } from "./refused-request.ts";

/** An archive in the place of a tree. */
export interface UploadRequest extends Omit<WholeSourceRequest, "git" | "tree"> {
  /** As the archive has them. */
  readonly files: readonly StoredFile[];
}

export interface UploadedSource {
  readonly digest: string;
  readonly dependenciesDigest: string;
  /** What is deployed, and stored under the digest. */
  readonly files: readonly StoredFile[];
}

/**
 * The source in an uploaded archive, by the rules of a repository and with its digest. What macOS adds is left out. When
 * all lies in one folder, as macOS packs it, and the handler is not found from outside, the source is that folder.
 *
 * @throws SlessError `source_missing` without the file that the entry point names, `too_large`, and what a source in a
 *   repository is refused for
 */
export async function uploadedSource(request: UploadRequest): Promise<UploadedSource> {
  const files = request.files.filter(({ path }) => !isOfMacOS(path));
  const asIs = await read(files, request);
  const folder = asIs.whole.missing === undefined ? undefined : onlyFolder(files);
  const inner = folder === undefined ? undefined : await read(below(folder, files), request);
  const { whole, contents } = inner?.whole.missing === undefined ? (inner ?? asIs) : asIs;
  refuseFaults(whole);
  const { digest, dependenciesDigest } = whole.source;
  return {
    digest,
    dependenciesDigest,
    files: whole.source.files.map((file) => ({ ...contents.get(file.id)!, ...file })),
  };
}

async function read(files: readonly StoredFile[], request: UploadRequest) {
  const { tree, git } = fileTree(files);
  const whole = await readWholeSource({ ...request, tree, git });
  return { whole, contents: new Map(files.map((file) => [file.id, file])) };
}

function isOfMacOS(path: string): boolean {
  const parts = path.split("/");
  return parts[0] === "__MACOSX" || parts.at(-1) === ".DS_Store";
}

/** The folder in which all files lie. */
function onlyFolder(files: readonly StoredFile[]): string | undefined {
  const first = files[0]?.path.split("/", 1)[0];
  return files.every(({ path }) => path.startsWith(`${first}/`)) ? first : undefined;
}

function below(folder: string, files: readonly StoredFile[]): StoredFile[] {
  return files.map((file) => ({ ...file, path: file.path.slice(folder.length + 1) }));
}

function refuseFaults({ faults, missing }: WholeSource): void {
  const [first] = faults;
  if (first) {
    const reasons = faults.map(({ code, details }) => ({
      field: String(details.path ?? ""),
      message: new SlessError(code, details).message,
    }));
    if (first.code === "source_too_large") {
      const { actual, limit } = first.details;
      const message = `has ${actual}; name what is not needed in .slessignore`;
      throw new RefusedRequest("too_large", { what: "The source", limit: limit! }, [{ field: "", message }]);
    }
    throw new RefusedRequest(first.code, first.details, reasons);
  }
  if (missing !== undefined) throw new SlessError("source_missing", { cause: missing });
}
