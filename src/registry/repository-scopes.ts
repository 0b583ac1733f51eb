import type { RegistryRequest } from "./transport.ts";

type Scoped = Pick<RegistryRequest, "repository" | "scopes">;

/** For what reads from a repository. */
export function pull(repository: string): Scoped {
  return { repository, scopes: [`repository:${repository}:pull`] };
}

/** For what writes into it; registries give no right to push alone. */
export function push(repository: string): Scoped {
  return { repository, scopes: [`repository:${repository}:pull,push`] };
}
