export type { Fetcher, FetchRequest } from "./fetcher.ts";
export type { GitHttp } from "./git-http.ts";
export { checkAddress } from "./guarded-lookup.ts";
export { type NetworkPolicy, networkPolicy } from "./network-policy.ts";
export { openRemoteRepositories, type RemoteAddress, type RemoteRepositories } from "./remote-repositories.ts";
export { parseRepositoryUrl } from "./repository-url.ts";
