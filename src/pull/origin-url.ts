const SECTION = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;
const URL_LINE = /^\s*url\s*=\s*(.*)$/i;

/** The URL of the remote `origin` in the text of a Git configuration; undefined without one. */
export function originUrl(config: string): string | undefined {
  let isOrigin = false;
  for (const line of config.split(/\r?\n/)) {
    const section = SECTION.exec(line);
    if (section) isOrigin = section[1]!.toLowerCase() === "remote" && unescaped(section[2] ?? "") === "origin";
    const value = isOrigin ? URL_LINE.exec(section ? line.slice(section[0].length) : line)?.[1] : undefined;
    if (value !== undefined) return plainValue(value);
  }
  return undefined;
}

/** A value without quotes, escapes and comment. */
function plainValue(written: string): string {
  let value = "";
  let isQuoted = false;
  for (let at = 0; at < written.length; at++) {
    const char = written[at]!;
    if (char === '"') isQuoted = !isQuoted;
    else if (char === "\\") value += written[++at] ?? "";
    else if (!isQuoted && (char === "#" || char === ";")) break;
    else value += char;
  }
  return value.trim();
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, "$1");
}
