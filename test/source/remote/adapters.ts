import { type Fetcher, findGit, type GitReader } from "../../../src/source/index.ts";
import { isomorphicFetcher, openIsomorphicReader } from "../../../src/source/isomorphic/index.ts";
import { nativeFetcher, openNativeReader } from "../../../src/source/native/index.ts";

const git = (await findGit(process.env.PATH))!;

export interface Adapter {
  readonly name: "native" | "isomorphic";
  readonly fetcher: Fetcher;
  openReader(repository: string): Promise<GitReader>;
}

export const ADAPTERS: readonly Adapter[] = [
  {
    name: "native",
    fetcher: nativeFetcher({ git }),
    openReader: (repository) => openNativeReader({ repository, git }),
  },
  {
    name: "isomorphic",
    fetcher: isomorphicFetcher(),
    openReader: (repository) => openIsomorphicReader({ repository }),
  },
];
