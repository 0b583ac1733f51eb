/** Makes deploy namespaces before something is written there, each once. */
export interface DeployNamespaces {
  /** @throws whatever making it throws; the next call tries anew */
  ensure(namespace: string): Promise<void>;
  /** It was found to be missing. */
  forget(namespace: string): void;
}

/** @param make makes the deploy namespace of this namespace, unless it is there */
export function deployNamespaces(make: (namespace: string) => Promise<void>): DeployNamespaces {
  const made = new Map<string, Promise<void>>();
  return {
    ensure(namespace) {
      const known = made.get(namespace);
      if (known) return known;
      const making = make(namespace);
      made.set(namespace, making);
      making.catch(() => made.delete(namespace));
      return making;
    },
    forget: (namespace) => void made.delete(namespace),
  };
}
