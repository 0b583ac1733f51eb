/** Where a repository is: a path of this machine, or a place on a server. */
export type RepositoryAddress =
  | { readonly kind: "local"; readonly path: string }
  | {
      readonly kind: "remote";
      readonly scheme: string;
      readonly host: string;
      readonly port: string;
      readonly path: string;
    };

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: "80", https: "443", ssh: "22", git: "9418" };
/** `git@host:path`: no slash before the colon, and more than the letter of a Windows drive. */
const SCP = /^(?:[^@/\s]+@)?([^:/\s]{2,}):(?!\/\/)(.+)$/;

/** An address as people write it in a Repository or as a remote; without user, password, `.git` and final slash. */
export function parseAddress(url: string): RepositoryAddress {
  const scp = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? null : SCP.exec(url);
  if (scp) return remote("ssh", scp[1]!, "", scp[2]!);
  const parsed = /^[a-z][a-z0-9+.-]+:\/\//i.test(url) ? URL.parse(url) : null;
  if (!parsed) return { kind: "local", path: url };
  const scheme = parsed.protocol.slice(0, -1).replace(/^git\+/, "");
  if (scheme === "file") return { kind: "local", path: decoded(parsed.pathname) };
  return remote(scheme, parsed.hostname, parsed.port, decoded(parsed.pathname));
}

function remote(scheme: string, host: string, port: string, path: string): RepositoryAddress {
  const trimmed = path
    .replace(/^\/+/, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "");
  return {
    kind: "remote",
    scheme,
    host: host.toLowerCase(),
    port: port || (DEFAULT_PORTS[scheme] ?? ""),
    path: trimmed,
  };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The same repository; a port tells two apart only on the same protocol, for ssh and https have different ones. */
export function isSameRemote(a: RepositoryAddress, b: RepositoryAddress): boolean {
  if (a.kind !== "remote" || b.kind !== "remote") return false;
  return a.host === b.host && a.path === b.path && (a.scheme !== b.scheme || a.port === b.port);
}
