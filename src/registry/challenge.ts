/** What a 401 asks for (RFC 9110 §11.6.1, https://distribution.github.io/distribution/spec/auth/token/). */
export type Challenge =
  | { readonly scheme: "basic" }
  | { readonly scheme: "bearer"; readonly realm: string; readonly service: string | undefined };

/** The first challenge that a client can answer; bearer before basic. Undefined when there is none. */
export function parseChallenge(header: string | readonly string[] | undefined): Challenge | undefined {
  const texts = typeof header === "string" ? [header] : (header ?? []);
  for (const text of texts) {
    const bearer = /(?:^|,)\s*bearer\s+(.*)$/is.exec(text)?.[1];
    if (bearer === undefined) continue;
    const parameters = parametersOf(bearer);
    const realm = parameters.get("realm");
    if (realm !== undefined && URL.canParse(realm))
      return { scheme: "bearer", realm, service: parameters.get("service") };
  }
  return texts.some((text) => /(?:^|,)\s*basic(?:\s|$)/i.test(text)) ? { scheme: "basic" } : undefined;
}

function parametersOf(text: string): Map<string, string> {
  const found = text.matchAll(/([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi);
  return new Map(
    Array.from(found, ([, name = "", quoted, plain]) => [
      name.toLowerCase(),
      quoted === undefined ? (plain ?? "") : quoted.replaceAll(/\\(.)/g, "$1"),
    ]),
  );
}
