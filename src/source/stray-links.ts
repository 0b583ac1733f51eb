/** Linux follows no more links on one way; what goes on for longer goes round in circles. */
const LINKS_MAX = 40;
const STEPS_MAX = 4096;

/** A folder, file or link that stands on the way to a link. */
interface Node {
  readonly children: Map<string, Node>;
  /** Segments of a link's target; `undefined` within when it leads out by itself. */
  link?: { readonly segments: readonly string[] | undefined };
}

/** `outside`: it leads out of the source. `endless`: in a circle, or further than any system follows. */
export interface StrayLink {
  readonly path: string;
  readonly leads: "outside" | "endless";
}

/**
 * The links of a source that lead to no place in it when they are followed, also by way of its other links: with
 * `up -> ..` in `a/`, the target `a/up/..` is outside although it does not look so. Absolute targets lead out.
 *
 * The time is linear in the number of links, whatever they say.
 *
 * @param targets of all links of the source by their paths
 */
export function strayLinks(targets: ReadonlyMap<string, string>): StrayLink[] {
  const root: Node = { children: new Map() };
  for (const [path, target] of targets) nodeAt(root, path).link = { segments: segmentsOf(target) };
  return [...targets.keys()].flatMap((path) => {
    const leads = strayFrom(path, root);
    return leads ? [{ path, leads }] : [];
  });
}

function nodeAt(root: Node, path: string): Node {
  let node = root;
  for (const segment of path.split("/")) {
    const next = node.children.get(segment) ?? { children: new Map() };
    node.children.set(segment, next);
    node = next;
  }
  return node;
}

function segmentsOf(target: string): readonly string[] | undefined {
  const isOut = target === "" || target.startsWith("/") || /[\\\0]/.test(target) || target.length > STEPS_MAX;
  return isOut ? undefined : target.split("/");
}

function strayFrom(path: string, root: Node): StrayLink["leads"] | undefined {
  /** What is still to be walked, the innermost link last. */
  const ahead = [{ segments: path.split("/") as readonly string[], next: 0 }];
  /** From the root to where we are; undefined where no link stands below. */
  const reached: (Node | undefined)[] = [root];
  let links = 0;
  for (let steps = 0; ahead.length > 0; ) {
    const walk = ahead.at(-1)!;
    const segment = walk.segments[walk.next++];
    if (segment === undefined) {
      ahead.pop();
      continue;
    }
    if (steps++ > STEPS_MAX) return "endless";
    if (segment === "" || segment === ".") continue;
    if (segment === "..") {
      reached.pop();
      if (reached.length === 0) return "outside";
      continue;
    }
    const node = reached.at(-1)?.children.get(segment);
    if (!node?.link) reached.push(node);
    else if (!node.link.segments) return "outside";
    else if (++links > LINKS_MAX) return "endless";
    else ahead.push({ segments: node.link.segments, next: 0 });
  }
  return undefined;
}
