/**
 * Makes deploy namespaces before something is written there. It is looked at before every write, for what one was a
 * moment ago says nothing of it: somebody may have made another of its name, without anything that guards it.
 */
export interface DeployNamespaces {
  /** Calls at the same time are one. @throws whatever making it throws */
  ensure(namespace: string): Promise<void>;
}

/** @param make makes the deploy namespace of this namespace, unless it is there as it should be, which costs nothing then */
export function deployNamespaces(make: (namespace: string) => Promise<void>): DeployNamespaces {
  const making = new Map<string, Promise<void>>();
  return {
    ensure(namespace) {
      const running = making.get(namespace);
      if (running) return running;
      const made = make(namespace).finally(() => making.delete(namespace));
      making.set(namespace, made);
      return made;
    },
  };
}
