import { expect, it } from "vitest";
import { buildSettings } from "../../../src/build/local/index.ts";
import { redactUrls } from "../../../src/build/redact-urls.ts";

it("passes on what reaches registries, and nothing else of the server's environment", () => {
  const wanted = {
    HTTPS_PROXY: "http://proxy.test",
    no_proxy: "localhost",
    NODE_EXTRA_CA_CERTS: "/ca.pem",
    PIP_INDEX_URL: "https://pypi.test",
    npm_config_registry: "https://npm.test",
    GOPROXY: "https://go.test",
  };
  const others = {
    AWS_SECRET_ACCESS_KEY: "x",
    GITHUB_TOKEN: "x",
    HOME: "/root",
    PATH: "/bin",
    npm_config__authToken: "x",
  };
  expect(buildSettings({ ...wanted, ...others, GOFLAGS: undefined })).toEqual(wanted);
});

it.each([
  ["https://user:token@host/x", "https://***@host/x"],
  ["see git+ssh://git:pw@host/a and http://t@b.test", "see git+ssh://***@host/a and http://***@b.test"],
  ["mail a@b.test, https://host/@scope/name", "mail a@b.test, https://host/@scope/name"],
])("takes credentials out of %j", (text, clean) => {
  expect(redactUrls(text)).toBe(clean);
});
