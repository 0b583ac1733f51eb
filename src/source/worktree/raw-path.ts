// Git's names are bytes and need not be UTF-8. Here they are kept as latin1 strings, one character per byte: they name
// every file there is, compare as Git compares them, and cost no more than other strings.

/** A path or name, one character per byte; `/` between names, none at the ends, `""` for the root. */
export type RawPath = string;

const ASCII = /^\p{ASCII}*$/u;

export function toRaw(text: string): RawPath {
  return ASCII.test(text) ? text : Buffer.from(text).toString("latin1");
}

/** As text; what is no UTF-8 becomes U+FFFD, as in what is read from Git. */
export function toText(raw: RawPath): string {
  return ASCII.test(raw) ? raw : Buffer.from(raw, "latin1").toString();
}

export function rawBelow(folder: RawPath, name: RawPath): RawPath {
  return folder === "" ? name : `${folder}/${name}`;
}

export function rawParent(path: RawPath): RawPath {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** What the file system is asked for. */
export function onDisk(root: string, path: RawPath): string | Buffer {
  if (path === "") return root;
  return ASCII.test(path) ? `${root}/${path}` : Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
}
