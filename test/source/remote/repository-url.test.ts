import { expect, it } from "vitest";
import { parseRepositoryUrl } from "../../../src/source/index.ts";

it.each([
  ["https://example.com/a/b.git", "https://example.com/a/b.git"],
  ["https://EXAMPLE.com:443/a/b/", "https://example.com/a/b"],
  ["http://example.com:8080/a", "http://example.com:8080/a"],
  ["https://example.com/a/../b", "https://example.com/b"],
])("%s is the repository %s", (text, href) => {
  expect(parseRepositoryUrl(text).href).toBe(href);
});

it.each([
  ["https://example.com:99999/a", "its host or its port (1 to 65535) is none"],
  ["https://", "its host or its port (1 to 65535) is none"],
  ["ssh://git@example.com/a.git", "only https:// and http:// addresses are followed"],
])("%s is told what is wrong with it", (text, cause) => {
  expect(() => parseRepositoryUrl(text)).toThrow(cause);
});

it.each([
  ["a local path", "/srv/repository.git"],
  ["a relative path", "../repository"],
  ["file://", "file:///srv/repository.git"],
  ["ssh://", "ssh://git@example.com/a.git"],
  ["the short form of ssh", "git@example.com:a/b.git"],
  ["git://", "git://example.com/a.git"],
  ["a transport of git's own", "ext::sh -c touch% /tmp/x"],
  ["an option", "--upload-pack=touch"],
  ["a user", "https://ada@example.com/a.git"],
  ["a password", "https://ada:hunter2@example.com/a.git"],
  ["a query", "https://example.com/a.git?private_token=hunter2"],
  ["a fragment", "https://example.com/a.git#main"],
  ["white space", " https://example.com/a.git"],
  ["a line break", "https://example.com/a\n.git"],
  ["a backslash", "https:\\\\example.com\\a"],
  ["no host", "https://"],
  ["a scheme without slashes", "https:example.com/a"],
  ["nothing", ""],
])("%s is refused, and no credential is shown", (_, text) => {
  const error = expect.objectContaining({
    code: "repository_url_invalid",
    message: expect.not.stringMatching(/hunter2|ada[:@]/),
  });
  expect(() => parseRepositoryUrl(text)).toThrow(error);
});
