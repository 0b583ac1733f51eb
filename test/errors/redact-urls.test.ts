import { expect, it } from "vitest";
import { redactUrls, withoutCredentials } from "../../src/errors/index.ts";

it.each([
  ["https://user:token@host/x", "https://***@host/x"],
  ["see git+ssh://git:pw@host/a and http://t@b.test", "see git+ssh://***@host/a and http://***@b.test"],
  ["mail a@b.test, https://host/@scope/name", "mail a@b.test, https://host/@scope/name"],
  ["https://ada:p@ss:w@rd@host/x", "https://***@host/x"],
  ["https://ada:what?@host", "https://***@host"],
  ["unable to access 'https://ada:it's@host/x'", "unable to access 'https://***@host/x'"],
  ['{"url":"https://host","mail":"a@b.test"}', '{"url":"https://host","mail":"a@b.test"}'],
  ["git@host:x and img@sha256:1", "git@host:x and img@sha256:1"],
  ["'https://a@b','https://c@d'", "'https://***@b','https://***@d'"],
])("takes credentials out of %j", (text, clean) => {
  expect(redactUrls(text)).toBe(clean);
});

it.each(["a.", "a-", "://", "a://", "@", "://a@"])("looks through megabytes of %j while nobody waits", (part) => {
  expect(redactUrls(part.repeat(1_000_000)).length).toBeGreaterThan(0);
});

it.each([
  ["https://me:secret@host/x", "https://host/x"],
  ["https://me:p@ss@host/x", "https://host/x"],
  ["ssh://git@host:22/x@y", "ssh://host:22/x@y"],
  ["https://host/a@b", "https://host/a@b"],
  ["/srv/a@b", "/srv/a@b"],
])("of %j a URL without credentials is %j", (url, clean) => {
  expect(withoutCredentials(url)).toBe(clean);
});
