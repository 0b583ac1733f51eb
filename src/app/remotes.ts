import type { ObjectKey, ObjectOf } from "../apis/index.ts";
import type { Settings } from "../config/index.ts";
import type { Informer } from "../controller/index.ts";
import { isSlessError, messageOf, type SlessError } from "../errors/index.ts";
import { hookSecretFault } from "../hooks/index.ts";
import { isGitSince } from "../source/git-version.ts";
import {
  checkAddress,
  type Fetcher,
  findGit,
  type GitReader,
  networkPolicy,
  openRemoteRepositories,
  parseRepositoryUrl,
  type RemoteAddress,
} from "../source/index.ts";
import { isomorphicFetcher } from "../source/isomorphic/index.ts";
import { FETCHES_SINCE, nativeFetcher } from "../source/native/index.ts";
import { openLocalReader } from "./open-git-reader.ts";
import type { SecretFiles } from "./secret-files.ts";

type Repository = ObjectOf<"Repository">;

export interface RemotesOptions {
  /** Folder of the mirrors. */
  readonly folder: string;
  readonly settings: Pick<Settings, "path" | "gitNetworks">;
  readonly secrets: Pick<SecretFiles, "read" | "onChange">;
}

/** What is told to whoever follows remote repositories. */
export interface RemotesWatch {
  readonly repositories: Pick<Informer<"Repository">, "list" | "onEvent">;
  /** There may be something new, for the repository's secret changed. */
  readonly onHint: (repository: ObjectKey) => void;
  readonly onError: (error: unknown) => void;
}

/** The repositories behind http(s) that this process follows. */
export interface Remotes {
  /** @throws SlessError `repository_url_invalid` */
  open(repository: Repository): Promise<GitReader>;
  /** Why no repository at an address may be made by a client, in words. */
  urlFault(url: string): string | undefined;
  /** Why webhooks of a repository that names a secret for them cannot be let in. @throws SlessError of the secrets */
  webhookFault(repository: Repository): Promise<SlessError | undefined>;
  /** Looks after mirrors and secrets until the returned function is called. Mirrors that nobody has any more are removed. */
  watch(watch: RemotesWatch): () => void;
}

/** @throws SlessError `storage_unavailable` */
export async function openRemotes({ folder, settings, secrets }: RemotesOptions): Promise<Remotes> {
  const git = await findGit(settings.path);
  const policy = networkPolicy(settings.gitNetworks);
  const remotes = await openRemoteRepositories({
    folder,
    policy,
    readSecret: secrets.read,
    fetcher: await fetcherWith(git),
    openReader: (repository) => openLocalReader({ repository, git }),
  });

  return {
    open: (repository) => remotes.open(addressOf(repository)),
    urlFault: repositoryUrlFault(settings.gitNetworks),
    webhookFault: (repository) => hookSecretFault(repository, secrets.read),
    watch({ repositories, onHint, onError }) {
      const tidy = () => void remotes.keepOnly(repositories.list().map(addressOf)).catch(onError);
      tidy();
      const stops = [
        repositories.onEvent((type, repository, before) => {
          if (type === "DELETED" || (before && !isSameAddress(repository, before))) tidy();
        }),
        secrets.onChange(({ namespace, name }) => {
          for (const { metadata, spec } of repositories.list(namespace)) {
            if (spec.secretRef?.name === name || spec.webhookSecretRef?.name === name)
              onHint({ namespace, name: metadata.name });
          }
        }),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

/** Says why no repository at an address may be made by a client, in words; undefined when it may. */
export function repositoryUrlFault(gitNetworks: readonly string[]): (url: string) => string | undefined {
  const policy = networkPolicy(gitNetworks);
  return (url) => {
    try {
      checkAddress(parseRepositoryUrl(url), policy);
      return undefined;
    } catch (error) {
      return isSlessError(error, "repository_url_invalid") ? String(error.details.cause) : messageOf(error);
    }
  };
}

async function fetcherWith(git: string | undefined): Promise<Fetcher> {
  const canFetch = git !== undefined && (await isGitSince(git, ...FETCHES_SINCE));
  return canFetch ? nativeFetcher({ git }) : isomorphicFetcher();
}

function addressOf({ metadata, spec }: Repository): RemoteAddress {
  return { namespace: metadata.namespace, url: spec.url, secret: spec.secretRef?.name };
}

function isSameAddress({ spec: a }: Repository, { spec: b }: Repository): boolean {
  return a.url === b.url && a.secretRef?.name === b.secretRef?.name;
}
