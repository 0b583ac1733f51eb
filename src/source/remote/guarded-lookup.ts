import { lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { SlessError } from "../../errors/index.ts";
import type { NetworkPolicy } from "./network-policy.ts";

/**
 * Resolves names to the addresses that the policy allows. The connection is made to what this answers, so a name
 * cannot be another address by the time it is used.
 *
 * @returns a function whose errors are SlessError `address_refused`, or those of the system
 */
export function guardedLookup(policy: NetworkPolicy): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const allowed = addresses.filter(({ address }) => policy.allows(address));
      const [first] = allowed;
      if (first === undefined) return callback(addressRefused(hostname), []);
      return options.all ? callback(null, allowed) : callback(null, first.address, first.family);
    });
  };
}

/** Addresses in place of names are never looked up. @throws SlessError `address_refused` */
export function checkAddress({ hostname }: URL, policy: NetworkPolicy): void {
  const address = hostname.replace(/^\[|\]$/g, "");
  if (isIP(address) !== 0 && !policy.allows(address)) throw addressRefused(hostname);
}

function addressRefused(host: string): SlessError {
  return new SlessError("address_refused", { host });
}
