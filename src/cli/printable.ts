import type { Output } from "./io.ts";

/** Ends what a colour began. */
const RESET = "\u001b[0m";
const ESCAPE = "\u001b";
/** Colours and weights, the only sequences that a terminal gets to see. */
const COLOR = `${ESCAPE}\\[[0-9;:]{0,32}m`;
/** Control characters but for tab, and those that turn the direction of a text. */
const CONTROL = "[\\x00-\\x08\\x0a-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]";
const WATCHED = new RegExp(`(${COLOR})|\\r?\\n|${CONTROL}`, "g");
/** What may go on in the next piece. */
const UNFINISHED = new RegExp(`(?:${ESCAPE}(?:\\[[0-9;:]{0,32})?|\\r)$`);

/**
 * Foreign output for a terminal, piece by piece: UTF-8 text whose colours stay and end with their line; every other
 * control character is shown as `\x1b`, for it could hide lines, forge them, or write into the terminal's own input.
 */
export function printable(): { write(chunk: Uint8Array): string; end(): string } {
  const decoder = new TextDecoder();
  let held = "";
  let colored = false;

  function shown(found: string, color: string | undefined): string {
    if (color !== undefined) {
      colored = true;
      return color;
    }
    if (!found.endsWith("\n")) return escaped(found);
    const reset = colored ? RESET : "";
    colored = false;
    return `${reset}\n`;
  }

  return {
    write(chunk) {
      const text = held + decoder.decode(chunk, { stream: true });
      held = UNFINISHED.exec(text)?.[0] ?? "";
      return text.slice(0, text.length - held.length).replaceAll(WATCHED, shown);
    },
    end() {
      const rest = (held + decoder.decode()).replaceAll(WATCHED, shown);
      held = "";
      return rest + (colored ? RESET : "");
    },
  };
}

const UNSEEN = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Foreign text of one or more lines for a terminal: no character moves the cursor, colours anything or turns the direction. */
export function printableText(text: string): string {
  return text.replaceAll(UNSEEN, escaped);
}

/** Passes output to a terminal so far as it is harmless, and to a file or pipe as it is. */
export async function passOn(chunks: AsyncIterable<Uint8Array>, to: Output): Promise<void> {
  const safe = to.isTTY ? printable() : undefined;
  for await (const chunk of chunks) await to.write(safe ? safe.write(chunk) : chunk);
  if (safe) await to.write(safe.end());
}

function escaped(character: string): string {
  const code = character.charCodeAt(0).toString(16);
  return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
}
