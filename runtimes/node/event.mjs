/** A request's body and query → the handler's event; the rules are the same in every runtime. */

const FORM = "application/x-www-form-urlencoded";

/** The caller's body is not what its content type says. */
export class InvalidEvent extends Error {}

/** JSON, a form's map, text, bytes; without a body the query as a map of strings. */
export function decodeEvent(contentType, body, query) {
  if (body.length === 0) return parseForm(query);
  const [kind, charset] = splitContentType(contentType);
  if (kind === "application/json" || kind.endsWith("+json")) {
    try {
      return parseJson(body);
    } catch (error) {
      throw new InvalidEvent(`The body is not valid JSON: ${error.message}.`);
    }
  }
  if (kind === "" || kind === FORM) {
    try {
      return parseJson(body);
    } catch {
      return kind === FORM ? parseForm(body.toString("utf8")) : body;
    }
  }
  if (kind.startsWith("text/")) return decodeText(body, charset);
  return body;
}

function splitContentType(contentType) {
  const [kind = "", ...parameters] = (contentType ?? "").split(";");
  const charset = parameters.map((one) => /^\s*charset\s*=\s*"?([^"]*)"?\s*$/i.exec(one)?.[1]).find(Boolean);
  return [kind.trim().toLowerCase(), charset?.toLowerCase()];
}

const strictText = new TextDecoder("utf-8", { fatal: true });

/** @throws Error that says what is wrong with it */
export function parseJson(body) {
  return JSON.parse(strictText.decode(body));
}

/** The last of several values of one name counts. */
export function parseForm(text) {
  return Object.fromEntries(new URLSearchParams(text));
}

function decodeText(body, charset) {
  const isLatin = charset === "iso-8859-1" || charset === "latin1";
  return body.toString(isLatin ? "latin1" : "utf8");
}
