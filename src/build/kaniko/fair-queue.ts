/** How many run at the same time, in all and of one tenant. */
export interface QueueLimits {
  readonly limit: number;
  readonly limitPerTenant: number;
}

/** Who waits, by tenant. Tenants take turns; within one it is first come, first served. */
export interface FairQueue<Item> {
  readonly size: number;
  get(id: string): Item | undefined;
  /** At the end of the tenant's line; one that waits already keeps its place, with the new item. */
  put(tenant: string, id: string, item: Item): void;
  remove(id: string): void;
  /**
   * Takes out who comes next.
   *
   * @param running how many run of each tenant
   * @returns undefined when nobody waits, or no limit leaves room
   */
  next(running: ReadonlyMap<string, number>): Item | undefined;
}

export function fairQueue<Item>({ limit, limitPerTenant }: QueueLimits): FairQueue<Item> {
  // In the order of turns: whoever had one goes to the end. Who may not run now keeps its turn.
  const lines = new Map<string, Map<string, Item>>();
  const tenants = new Map<string, string>();

  function take(tenant: string, line: Map<string, Item>): Item | undefined {
    const [first] = line;
    if (!first) return undefined;
    const [id, item] = first;
    line.delete(id);
    tenants.delete(id);
    lines.delete(tenant);
    if (line.size > 0) lines.set(tenant, line);
    return item;
  }

  return {
    get size() {
      return tenants.size;
    },
    get: (id) => lines.get(tenants.get(id) ?? "")?.get(id),
    put(tenant, id, item) {
      const owner = tenants.get(id) ?? tenant;
      const line = lines.get(owner) ?? new Map<string, Item>();
      line.set(id, item);
      lines.set(owner, line);
      tenants.set(id, owner);
    },
    remove(id) {
      const tenant = tenants.get(id) ?? "";
      const line = lines.get(tenant);
      line?.delete(id);
      tenants.delete(id);
      if (line?.size === 0) lines.delete(tenant);
    },
    next(running) {
      const total = [...running.values()].reduce((sum, count) => sum + count, 0);
      if (total >= limit) return undefined;
      for (const [tenant, line] of lines) if ((running.get(tenant) ?? 0) < limitPerTenant) return take(tenant, line);
      return undefined;
    },
  };
}
