/** What an environment looks like to a reader: names to values, nothing more. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Variables of the machine that dependency installs and builds need to reach their registries, compared without
 * case. Nothing else of the server's environment reaches a build: no token, no npm_config_* of `npm start` itself.
 */
const PASSED_TO_BUILDS = new Set([
  "http_proxy",
  "https_proxy",
  "all_proxy",
  "no_proxy",
  "node_extra_ca_certs",
  "ssl_cert_file",
  "ssl_cert_dir",
  "requests_ca_bundle",
  "curl_ca_bundle",
  "npm_config_registry",
  "npm_config_cafile",
  "npm_config_proxy",
  "npm_config_https_proxy",
  "npm_config_noproxy",
  "npm_config_strict_ssl",
  "goproxy",
  "goflags",
  "gosumdb",
  "gonosumdb",
  "gonoproxy",
  "goprivate",
  "goinsecure",
  "gotoolchain",
  "tmpdir",
  "lang",
  "lc_all",
]);

/** The part of an environment that builds may see: proxies, certificates, registries, locale. Empty values are left out. */
export function buildEnvironment(env: Environment): Readonly<Record<string, string>> {
  const passed = Object.entries(env).filter((entry): entry is [string, string] => {
    const name = entry[0].toLowerCase();
    return Boolean(entry[1]) && (PASSED_TO_BUILDS.has(name) || name.startsWith("pip_"));
  });
  return Object.freeze(Object.fromEntries(passed));
}
