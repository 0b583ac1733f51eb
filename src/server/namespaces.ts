import { isNamespaceName, NAMESPACE_MAX_LENGTH } from "../apis/index.ts";
import { refuseFields } from "../writes/index.ts";
import type { Identity } from "./items.ts";

/** The namespaces that exist. None is ever deleted. */
export interface Namespaces {
  has(namespace: string): Promise<boolean>;
  /**
   * Of several calls at once, one is told "created". Resolves once it is durable.
   *
   * @param by who asks; where namespaces have rights of their own he gets those of the one that is made for him
   * @throws SlessError `storage_unavailable`
   */
  ensure(namespace: string, by?: Identity): Promise<"created" | "exists">;
}

/** @throws RefusedRequest `invalid_request` for what is no name of a namespace */
export function checkNamespace(namespace: string): void {
  if (isNamespaceName(namespace)) return;
  const message = `is no name of a namespace: use lower-case letters, digits and "-", at most ${NAMESPACE_MAX_LENGTH}`;
  refuseFields([{ field: "namespace", message }]);
}
