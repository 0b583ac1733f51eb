import { expect, it } from "vitest";
import { buildSettings } from "../../../src/build/local/index.ts";

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
