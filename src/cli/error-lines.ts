import { isSlessError, messageOf } from "../errors/index.ts";
import { ServerError } from "../server/client.ts";
import { printableText } from "./printable.ts";
import type { Style } from "./style.ts";

/** An error for a terminal: what happened, then what to do. Only an error that nobody foresaw shows its stack. */
export function errorLines(error: unknown, style: Style): string[] {
  // Paths, causes and what a server says hold what others wrote.
  const [first = "", ...rest] = textLines(error).map(printableText);
  return [`${style.bad("error:")} ${first}`, ...rest];
}

function textLines(error: unknown): string[] {
  if (isSlessError(error)) return [error.happened, `  ${error.remedy}`];
  if (error instanceof ServerError) return serverLines(error);
  const stack = error instanceof Error ? (error.stack ?? "").split("\n").slice(1) : [];
  return [`sless failed: ${messageOf(error)}`, ...stack];
}

/** The text of an invalid request, for whoever reads that alone, says its first faults too: here each is said once. */
function serverLines({ code, message, details }: ServerError): string[] {
  const faults = details.map(shown);
  const lines = faults.map((fault) => `  ${fault}`);
  if (code !== "invalid_request" || faults.length === 0) return [message, ...lines];
  return faults.length === 1 ? [`The request is not valid: ${faults[0]}`] : ["The request is not valid:", ...lines];
}

/** What owns an object, as the server tells it. */
interface OwningPlace {
  readonly repository: unknown;
  readonly file: unknown;
  readonly line: unknown;
}

function placeText(file: unknown, line: unknown): string {
  return [file, line].filter((part) => typeof part === "string" || typeof part === "number").join(":");
}

/**
 * A detail of a server's error: `{field, message}`, `{path, message}`, `{repository, file, line}` or anything else as
 * JSON.
 */
function shown(detail: unknown): string {
  if (typeof detail === "string") return detail;
  const { repository, file, line } = (detail ?? {}) as Partial<OwningPlace>;
  if (typeof repository === "string")
    return [`repository ${repository}`, placeText(file, line)].filter(Boolean).join(": ");
  const { field, path = field, message } = (detail ?? {}) as { field?: unknown; path?: unknown; message?: unknown };
  if (typeof message !== "string") return JSON.stringify(detail);
  const place = Array.isArray(path) ? path.join(".") : path;
  return place && !message.startsWith(`${place} `) ? `${place}: ${message}` : message;
}
