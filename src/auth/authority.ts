import type { Access } from "./access.ts";

/** Who somebody is, as Kubernetes tells it. */
export interface Subject {
  /** `ada`, `system:serviceaccount:team-a:ci`. */
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Tells who speaks and what he may do. It never says yes because it could not ask. */
export interface Authority {
  /** @throws SlessError `unauthenticated`, `cluster_unavailable` when nobody can tell now */
  authenticate(token: string): Promise<Subject>;
  /** @throws SlessError `access_denied`, `cluster_unavailable` when nobody can tell now */
  authorize(subject: Subject, access: Access): Promise<void>;
}
