const POINTER_MAX_LENGTH = 1024;
const VERSION =
  /^version https?:\/\/(?:git-lfs\.github\.com\/spec\/v1|hawser\.github\.com\/spec\/v1|git-media\.io\/v\/2)\r?\n/;

/** Whether a file's content is a Git LFS pointer, that is, not the file but a note where it lies. */
export function isLfsPointer(content: string | Uint8Array): boolean {
  if (content.length > POINTER_MAX_LENGTH) return false;
  const text = typeof content === "string" ? content : Buffer.from(content).toString("latin1");
  return VERSION.test(text) && /^oid sha256:[0-9a-f]{64}\r?$/m.test(text) && /^size \d+\r?$/m.test(text);
}
