const PASSED_THROUGH = [
  /^(https?|no|all)_proxy$/i,
  /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$/,
  /^PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|CERT|CLIENT_CERT|PROXY|FIND_LINKS|NO_INDEX|TIMEOUT|RETRIES)$/,
  /^npm_config_(registry|cafile|ca|proxy|https_proxy|https-proxy|noproxy|strict_ssl|strict-ssl)$/i,
  /^(GOPROXY|GONOPROXY|GOPRIVATE|GOSUMDB|GONOSUMDB|GONOSUMCHECK|GOINSECURE|GOFLAGS)$/,
];

/** The variables that installs need to reach package registries here: proxies, certificates, mirrors. Nothing else gets into a build. */
export function buildSettings(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const entries = Object.entries(environment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && PASSED_THROUGH.some((pattern) => pattern.test(entry[0])),
  );
  return Object.fromEntries(entries);
}
