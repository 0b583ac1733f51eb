/** Items and what was made of each, in the same order. */
export interface Made<Item, Value> {
  readonly items: readonly Item[];
  readonly values: readonly Value[];
}

export const NOTHING_MADE: Made<never, never> = { items: [], values: [] };

/**
 * What was made earlier of items that are still the same objects, in the order of `items`; undefined for the others.
 * Nothing is looked up while each item stands as far from the beginning as it did, or as the one before it.
 *
 * @param isNew spares the search for items that cannot have been there
 */
export function carriedOver<Item extends object, Value>(
  before: Made<Item, Value>,
  items: readonly Item[],
  isNew: (item: Item) => boolean = () => false,
): (Value | undefined)[] {
  let shift = 0;
  let places: ReadonlyMap<Item, number> | undefined;
  return items.map((item, index) => {
    if (before.items[index + shift] !== item) {
      if (isNew(item)) return undefined;
      places ??= new Map(before.items.map((one, place) => [one, place]));
      const place = places.get(item);
      if (place === undefined) return undefined;
      shift = place - index;
    }
    return before.values[index + shift];
  });
}
