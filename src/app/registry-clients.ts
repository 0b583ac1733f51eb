import { type RegistryClient, type RegistryOptions, registryClient } from "../registry/index.ts";
import type { Closers } from "./closers.ts";

export interface RegistryClientsOptions {
  readonly clock: RegistryOptions["clock"];
  /** Whether a host is spoken to without TLS. */
  readonly isPlainHttp: (host: string) => boolean;
  /** What is known for a host alone; asked anew when it is needed. */
  readonly credentialsOf: (host: string) => NonNullable<RegistryOptions["credentials"]>;
}

/** Clients by host, one for each, closed with the rest. */
export function registryClients(
  { clock, isPlainHttp, credentialsOf }: RegistryClientsOptions,
  closers: Closers,
): (host: string) => RegistryClient {
  const opened = new Map<string, RegistryClient>();
  return (host) => {
    const known = opened.get(host);
    if (known) return known;
    const settings = { host, clock, plainHttp: isPlainHttp(host), credentials: credentialsOf(host) };
    const made = closers.add(registryClient(settings));
    opened.set(host, made);
    return made;
  };
}
