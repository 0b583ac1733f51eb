/** A limit of bytes as an error tells it: `50 MiB`, `1000 bytes`. */
export function limitText(bytes: number): string {
  return bytes % (1 << 20) === 0 ? `${bytes / (1 << 20)} MiB` : `${bytes} bytes`;
}
