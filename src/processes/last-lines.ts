const LAST_LINES = 20;
const LAST_BYTES = 2000;
const LINE_MAX_LENGTH = 400;

export interface LastLines {
  push(line: Uint8Array): void;
  /** The last lines, oldest first, within the bounds; without colours and control characters. */
  text(): string;
}

/** Remembers the end of some output for a message: at most 20 lines and 2,000 bytes of UTF-8. */
export function lastLines(): LastLines {
  const lines: string[] = [];
  return {
    push(line) {
      const text = toPlainText(Buffer.from(line).toString("utf8")).slice(0, LINE_MAX_LENGTH);
      if (text.trim() === "") return;
      lines.push(text);
      if (lines.length > LAST_LINES) lines.shift();
    },
    text() {
      const kept: string[] = [];
      let size = 0;
      for (const line of lines.toReversed()) {
        size += Buffer.byteLength(line) + 1;
        if (size > LAST_BYTES) break;
        kept.unshift(line);
      }
      return kept.join("\n");
    },
  };
}

function toPlainText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what goes
  return text.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, "").replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "");
}
