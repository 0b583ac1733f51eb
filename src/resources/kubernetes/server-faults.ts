import type { ApiError } from "../../kubernetes/index.ts";
import type { FieldMessage } from "../invalid-request.ts";

/** What an API server says about the fields of an object, in the forms in which it says it. Pure. */
export function serverFaults(error: ApiError): FieldMessage[] {
  const faults = [...typingFaults(error.message), ...unknownFields(error.message), ...causeFaults(error)];
  const seen = new Set<string>();
  return faults.filter((fault) => {
    const id = JSON.stringify(fault);
    return !seen.has(id) && seen.add(id);
  });
}

/** Maps that an apply would leave behind as null: nobody has a field in them any more. */
export function nulledMaps(error: ApiError): string[][] {
  return error.causes
    .filter(({ message }) => /must be of type object: "null"$/.test(message))
    .map(({ field }) => field.split("."));
}

/** Answers with 500 to an apply whose values have other types than the schema: `.spec.env.A: expected string, got …`. */
function typingFaults(message: string): FieldMessage[] {
  if (!message.startsWith("failed to create typed patch object")) return [];
  const found = message.matchAll(
    /\.((?:spec|metadata|status)[^\s:]*): (expected [^\n]*|field not declared in schema)/g,
  );
  return Array.from(found, ([, path = "", words = ""]) => ({
    path,
    message: words.startsWith("expected") ? words.replace(/^expected (.*), got .*$/s, "wants a $1") : "unknown field",
  }));
}

/** `strict decoding error: unknown field "spec.memory", unknown field "spec.cpu"`. */
function unknownFields(message: string): FieldMessage[] {
  const at = message.lastIndexOf("strict decoding error: ");
  if (at < 0) return [];
  return Array.from(message.slice(at).matchAll(/unknown field "([^"]+)"/g), ([, path = ""]) => ({
    path,
    message: "unknown field",
  }));
}

function causeFaults({ causes }: ApiError): FieldMessage[] {
  return causes
    .filter(({ field, message }) => field !== "patch" && !/some validation rules were not checked/.test(message))
    .map(({ field, message }) => {
      const path = field === "<nil>" ? "" : field.replace(/^\./, "");
      return { path: path === "" && isAboutName(message) ? "metadata.name" : path, message: plainWords(path, message) };
    });
}

/** The rule stands at the root of the schema: CEL sees no metadata elsewhere. */
function isAboutName(message: string): boolean {
  return /the name must be/.test(message);
}

/** `Invalid value: 1: spec.memoryMB in body should be greater than or equal to 32` → `should be … 32`. */
function plainWords(path: string, message: string): string {
  const words = message.replace(
    /^(?:Invalid value|Unsupported value|Too long|Too many): (?:"(?:[^"\\]|\\.)*"|[^:]*): /s,
    "",
  );
  if (/^Required value/.test(words)) return "is missing; add it";
  const own = `${path} in body `;
  return words.startsWith(own) ? words.slice(own.length) : words;
}
