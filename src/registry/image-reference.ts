import { SlessError } from "../errors/index.ts";

/** An image by where it stands: `registry.example.org/team/base:1`, `…@sha256:<hex>`. */
export interface ImageReference {
  /** With the port, `10.0.0.1:5000`; Docker Hub is `docker.io`. */
  readonly host: string;
  readonly repository: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

const HOST = /^(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+|\[[0-9a-f:]+\]|[a-z0-9-]+(?=:))(?::\d{1,5})?$/i;
const REPOSITORY = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const DOCKER_HUB = "docker.io";

/**
 * Reads a reference as `docker pull` does: without a host it is Docker Hub's, there without a folder `library/`, and
 * without tag and digest `latest`.
 *
 * @throws SlessError `invalid_request` for what is none
 */
export function parseImageReference(text: string): ImageReference {
  const [named = "", digest] = text.split("@");
  const first = named.slice(0, Math.max(named.indexOf("/"), 0));
  const host = HOST.test(first) ? first : DOCKER_HUB;
  const rest = host === first ? named.slice(first.length + 1) : named;
  const [path = "", tag] = rest.split(":");
  const repository = host === DOCKER_HUB && !path.includes("/") ? `library/${path}` : path;
  const isReference =
    text.split("@").length <= 2 &&
    rest.split(":").length <= 2 &&
    repository.length <= 255 &&
    REPOSITORY.test(repository) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest));
  if (!isReference)
    throw new SlessError("invalid_request", {
      cause: `${JSON.stringify(text.slice(0, 200))} is no reference of an image`,
    });
  return { host, repository, tag: tag ?? (digest === undefined ? "latest" : undefined), digest };
}

/** `host/repository@digest`: what is deployed (rule 7). */
export function digestReference({ host, repository }: Pick<ImageReference, "host" | "repository">, digest: string) {
  return `${host}/${repository}@${digest}`;
}

/** `sha256:` and 64 hex digits. */
export function isDigest(value: unknown): value is string {
  return typeof value === "string" && DIGEST.test(value);
}

/** What may follow `host/repository:`. */
export function isTag(value: unknown): value is string {
  return typeof value === "string" && TAG.test(value);
}
