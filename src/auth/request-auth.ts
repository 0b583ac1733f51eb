import type { IncomingHttpHeaders } from "node:http";
import type { Access } from "./access.ts";
import { accountOf } from "./account.ts";
import type { Authority, Subject } from "./authority.ts";
import { bearerToken } from "./bearer-token.ts";

/** A request, and what it is about to do. */
export interface GuardedRequest {
  readonly headers: IncomingHttpHeaders;
  /** All of it must be allowed; nothing: whoever is known may. */
  readonly access: readonly Access[];
}

export interface RequestAuth {
  /** @throws SlessError `unauthenticated`, `access_denied`, `cluster_unavailable` */
  authorize(request: GuardedRequest): Promise<void>;
  /** Who asks. @throws SlessError `unauthenticated`, `cluster_unavailable` */
  whoami(request: Pick<GuardedRequest, "headers">): Promise<TokenIdentity>;
}

export interface TokenIdentity {
  readonly subject: string;
  readonly groups: readonly string[];
  /** Of a service account its own, else `default`. */
  readonly namespace: string;
  readonly authentication: "token";
}

/** Bearer tokens for the REST API, judged by an authority. */
export function requestAuth(authority: Authority): RequestAuth {
  const subjectOf = (headers: IncomingHttpHeaders) => authority.authenticate(bearerToken(headers.authorization));
  return {
    async authorize({ headers, access }) {
      const subject = await subjectOf(headers);
      for (const each of access) await authority.authorize(subject, each);
    },
    async whoami({ headers }) {
      const subject = await subjectOf(headers);
      const { username, groups } = subject;
      return { subject: username, groups, namespace: namespaceOf(subject), authentication: "token" };
    },
  };
}

function namespaceOf({ username }: Subject): string {
  const account = accountOf(username);
  return account.kind === "ServiceAccount" ? account.namespace : "default";
}
