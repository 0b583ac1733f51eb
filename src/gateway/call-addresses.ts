import { NAME_MAX_LENGTH, NAMESPACE_MAX_LENGTH, type ObjectKey } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import { CALL_PREFIX } from "./call-path.ts";

export interface CallAddressOptions {
  /** Origin and perhaps path under which the world reaches the gateway, without a final slash; it stands above `ingress`. */
  readonly externalUrl?: string | undefined;
  /** Calls come to `{name}.{namespace}.<host>`. */
  readonly ingress?: { readonly host: string; readonly isTls: boolean } | undefined;
  /** Where the gateway is reached from nearby when neither is given, `http://sless-gateway.sless.svc`. */
  readonly nearbyUrl: string;
}

/** How callers address functions. */
export interface CallAddresses {
  /** For people and `status.url`. */
  urlOf(key: ObjectKey): string;
  /** The gateway's `ingressHost`; undefined where addresses are paths alone. */
  readonly ingressHost: string | undefined;
}

/** RFC 1035 §2.3.4. */
const HOST_MAX_LENGTH = 253;

/** @throws SlessError `settings_invalid` when addresses below the ingress host could be too long for DNS */
export function callAddresses({ externalUrl, ingress, nearbyUrl }: CallAddressOptions): CallAddresses {
  if (externalUrl !== undefined || !ingress) {
    const base = externalUrl ?? nearbyUrl;
    return { urlOf: ({ namespace, name }) => `${base}${CALL_PREFIX}${namespace}/${name}`, ingressHost: undefined };
  }
  const { host, isTls } = ingress;
  checkLength(host);
  return { urlOf: (key) => `${isTls ? "https" : "http"}://${callHost(key, host)}`, ingressHost: host };
}

/** `hello.default.fn.example.org` */
export function callHost({ namespace, name }: ObjectKey, ingressHost: string): string {
  return `${name}.${namespace}.${ingressHost}`;
}

function checkLength(host: string): void {
  const max = HOST_MAX_LENGTH - NAME_MAX_LENGTH - NAMESPACE_MAX_LENGTH - 2;
  if (host.length <= max) return;
  const cause = `INGRESS_HOST has ${host.length} characters; beyond ${max} the addresses {name}.{namespace}.<host> are too long for DNS`;
  throw new SlessError("settings_invalid", { cause });
}
