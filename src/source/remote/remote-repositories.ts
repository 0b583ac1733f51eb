import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { hashFields } from "../../apis/index.ts";
import { messageOf, SlessError } from "../../errors/index.ts";
import type { GitReader } from "../git-reader.ts";
import { type Access, NO_ACCESS, type ReadSecret, readAccess } from "./credentials.ts";
import type { Fetcher } from "./fetcher.ts";
import { createMirror, type Mirror } from "./mirror.ts";
import type { NetworkPolicy } from "./network-policy.ts";
import { type Borrowed, openRemoteReader } from "./remote-reader.ts";
import { parseRepositoryUrl } from "./repository-url.ts";

/** Where a repository is, and which secret opens it. */
export interface RemoteAddress {
  readonly namespace: string;
  readonly url: string;
  /** Name of a secret of the namespace. */
  readonly secret?: string | undefined;
}

export interface RemoteRepositoriesOptions {
  /** Of the mirrors; made when it is not there. Nobody else uses it. */
  readonly folder: string;
  readonly readSecret: ReadSecret;
  readonly policy: NetworkPolicy;
  readonly fetcher: Fetcher;
  /** Reads a mirror. */
  readonly openReader: (folder: string) => Promise<GitReader>;
  /** Bytes that one fetch brings at most. Default 1 GiB. */
  readonly maxBytes?: number;
}

interface MirrorInUse {
  readonly mirror: Mirror;
  users: number;
  /** To be removed once nobody uses it. */
  isUnwanted: boolean;
}

const NAME_LENGTH = 40;
const NAME = /^[0-9a-f]{40}$/;

/** The repositories behind http(s), each with a mirror by namespace, address and credential. */
export interface RemoteRepositories {
  /** Nothing is asked of the server before the first `resolve`. @throws SlessError `repository_url_invalid` */
  open(address: RemoteAddress): Promise<GitReader>;
  /** Removes the mirrors of all other repositories, but for those that are open. */
  keepOnly(addresses: readonly RemoteAddress[]): Promise<void>;
}

export async function openRemoteRepositories(options: RemoteRepositoriesOptions): Promise<RemoteRepositories> {
  const { folder, readSecret, policy, fetcher, openReader, maxBytes } = options;
  const mirrors = new Map<string, MirrorInUse>();
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new SlessError("storage_unavailable", { what: folder, cause: messageOf(error) }, { cause: error });
  });

  const accessOf = ({ namespace, secret }: RemoteAddress) =>
    secret === undefined ? Promise.resolve(NO_ACCESS) : readAccess(readSecret, namespace, secret);

  function mirrorNamed(name: string): MirrorInUse {
    const known = mirrors.get(name) ?? {
      mirror: createMirror(join(folder, name), fetcher),
      users: 0,
      isUnwanted: false,
    };
    mirrors.set(name, known);
    return known;
  }

  function borrow(name: string): Borrowed {
    const entry = mirrorNamed(name);
    entry.users += 1;
    entry.isUnwanted = false;
    return {
      mirror: entry.mirror,
      async release() {
        entry.users -= 1;
        if (entry.users > 0) return;
        await entry.mirror.rest();
        if (entry.isUnwanted) await removeUnused(entry);
      },
    };
  }

  async function removeUnused(entry: MirrorInUse): Promise<void> {
    entry.isUnwanted = entry.users > 0;
    if (!entry.isUnwanted) await entry.mirror.remove();
  }

  async function nameOf(address: RemoteAddress): Promise<string | undefined> {
    try {
      return mirrorName(address.namespace, parseRepositoryUrl(address.url), await accessOf(address));
    } catch {
      return undefined; // nothing can be fetched for it now
    }
  }

  return {
    async open(address) {
      const url = parseRepositoryUrl(address.url);
      return openRemoteReader({
        url,
        policy,
        openReader,
        maxBytes,
        readAccess: () => accessOf(address),
        borrow: (access) => borrow(mirrorName(address.namespace, url, access)),
      });
    },
    async keepOnly(addresses) {
      const kept = new Set(await Promise.all(addresses.map(nameOf)));
      for (const entry of await readdir(folder)) {
        const name = entry.slice(0, NAME_LENGTH);
        if (kept.has(name)) continue;
        if (NAME.test(entry)) await removeUnused(mirrorNamed(name));
        // What a process left that was killed while it made a mirror.
        else if (!mirrors.has(name)) await rm(join(folder, entry), { recursive: true, force: true });
      }
    },
  };
}

function mirrorName(namespace: string, url: URL, { identity }: Access): string {
  return hashFields([namespace, url.href, identity]).slice(0, NAME_LENGTH);
}
