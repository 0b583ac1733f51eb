import fc from "fast-check";
import { expect, it } from "vitest";
import { readSettings } from "../../src/config/index.ts";
import { isSlessError } from "../../src/errors/index.ts";

function faultOf(env: Record<string, string>, flags = {}): string {
  try {
    readSettings(env, flags);
  } catch (error) {
    if (isSlessError(error, "settings_invalid")) return error.happened;
    throw error;
  }
  return "none";
}

it("an empty environment gives the defaults of the embedded mode", () => {
  expect(readSettings({})).toEqual({
    port: 9090,
    data: ".sless",
    endpoint: "http://127.0.0.1:9090",
    token: undefined,
    namespace: "default",
    log: { level: "warn", format: "text" },
    color: true,
    path: "",
    home: undefined,
    garbage: { graceMs: 86_400_000, sharedGraceMs: 2_592_000_000, everyMs: 3_600_000 },
    gitNetworks: [],
    buildEnvironment: {},
  });
});

it("a flag stands above its variable", () => {
  const settings = readSettings(
    { PORT: "1", SLESS_DATA: "a", SLESS_ENDPOINT: "http://a", SLESS_API_TOKEN: "a", SLESS_NAMESPACE: "a" },
    { port: "2", data: "b", endpoint: "https://b/", token: "b", namespace: "b" },
  );
  expect(settings).toMatchObject({ port: 2, data: "b", endpoint: "https://b", token: "b", namespace: "b" });
});

it("the clients talk to the port that the server was given", () => {
  expect(readSettings({ PORT: "8080" }).endpoint).toBe("http://127.0.0.1:8080");
});

it("an empty variable counts as unset", () => {
  expect(readSettings({ PORT: "", SLESS_DATA: "", NO_COLOR: "", HOME: "" })).toEqual(readSettings({}));
});

it("settings cannot be changed", () => {
  const settings = readSettings({ PIP_INDEX_URL: "https://pypi.example" });
  for (const part of [settings, settings.log, settings.buildEnvironment]) expect(Object.isFrozen(part)).toBe(true);
});

const faults: Record<string, [Record<string, string>, string]> = {
  "a port beyond 65535": [{ PORT: "65536" }, 'PORT "65536" is no port'],
  "a port that is no number": [{ PORT: "80a" }, 'PORT "80a" is no port'],
  "a negative port": [{ PORT: "-1" }, 'PORT "-1" is no port'],
  "an endpoint without a scheme": [{ SLESS_ENDPOINT: "localhost:9090" }, "SLESS_ENDPOINT is no http(s) address"],
  "an endpoint with a path": [{ SLESS_ENDPOINT: "http://a:1/v1/" }, "SLESS_ENDPOINT holds a path: write http://a:1"],
  "an endpoint of another scheme": [{ SLESS_ENDPOINT: "ftp://a" }, "SLESS_ENDPOINT is no http(s) address"],
  "a namespace in capitals": [{ SLESS_NAMESPACE: "Team" }, 'SLESS_NAMESPACE "Team" is no namespace'],
  "a namespace that is too long": [{ SLESS_NAMESPACE: "a".repeat(55) }, "is no namespace"],
  "a name in place of a network": [{ SLESS_GIT_NETWORKS: "git.local" }, 'SLESS_GIT_NETWORKS "git.local" is no network'],
  "a network of too many bits": [{ SLESS_GIT_NETWORKS: "10.0.0.0/33" }, '"10.0.0.0/33" is no network'],
  "an unknown level": [{ LOG_LEVEL: "loud" }, 'LOG_LEVEL "loud" is none of trace, debug, info, warn, error, silent'],
  "an unknown format": [{ LOG_FORMAT: "xml" }, 'LOG_FORMAT "xml" is none of text, json'],
};
it.each(Object.entries(faults))("%s is refused by name", (_name, [env, expected]) => {
  expect(faultOf(env)).toContain(expected);
});

it("networks of repositories stand in a list", () => {
  const { gitNetworks } = readSettings({ SLESS_GIT_NETWORKS: "127.0.0.1, 10.0.0.0/8,fd00::/8 ::1/128" });
  expect(gitNetworks).toEqual(["127.0.0.1", "10.0.0.0/8", "fd00::/8", "::1/128"]);
});

it("every fault is told at once, each with the name of its flag or variable", () => {
  const told = faultOf({ LOG_LEVEL: "loud", SLESS_NAMESPACE: "A" }, { port: "x", data: "" });
  for (const name of ["LOG_LEVEL", "SLESS_NAMESPACE", "--port", "--data"]) expect(told).toContain(name);
});

it("no fault shows a token or a credential of an address", () => {
  const told = faultOf({ SLESS_API_TOKEN: "se cret", SLESS_ENDPOINT: "https://ada:secret@example.com" });
  expect(told).toContain("SLESS_API_TOKEN");
  expect(told).toContain("SLESS_ENDPOINT");
  expect(told).not.toMatch(/se ?cret/);
});

it("builds see proxies, certificates and registries, and nothing else of the environment", () => {
  const passed = {
    HTTPS_PROXY: "http://proxy:3128",
    no_proxy: "localhost",
    NODE_EXTRA_CA_CERTS: "/ca.pem",
    PIP_INDEX_URL: "https://pypi.example",
    npm_config_registry: "https://npm.example",
    GOPROXY: "https://go.example",
    GOFLAGS: "-mod=mod",
  };
  const kept = {
    AWS_SECRET_ACCESS_KEY: "x",
    SLESS_API_TOKEN: "x",
    npm_config_cache: "/x",
    GITHUB_TOKEN: "x",
    PORT: "1",
  };
  expect(readSettings({ ...passed, ...kept }).buildEnvironment).toEqual(passed);
});

it("any environment gives settings or one settings_invalid", () => {
  const names = [
    "PORT",
    "SLESS_DATA",
    "SLESS_ENDPOINT",
    "SLESS_API_TOKEN",
    "SLESS_NAMESPACE",
    "LOG_LEVEL",
    "LOG_FORMAT",
  ];
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), fc.string({ unit: "binary" })), (env) => {
      const told = faultOf(env);
      expect(told === "none" || told.startsWith("The settings are not valid: ")).toBe(true);
    }),
  );
});

it("how long garbage stays is read in units", () => {
  const env = { GARBAGE_GRACE: "90m", GARBAGE_SHARED_GRACE: "7d", GARBAGE_EVERY: "30s" };
  const { garbage } = readSettings(env);
  expect(garbage).toEqual({ graceMs: 5_400_000, sharedGraceMs: 604_800_000, everyMs: 30_000 });
  for (const wrong of ["0h", "1", "-1h", "1w", "1.5h", "soon"])
    expect(() => readSettings({ GARBAGE_GRACE: wrong })).toThrow(`GARBAGE_GRACE "${wrong}" is no duration`);
});
