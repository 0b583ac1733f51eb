/** Linux follows no more links on one way; what goes on for longer goes round in circles. */
const LINKS_MAX = 40;
const STEPS_MAX = 4096;

/** A folder, file or link that stands on the way to a link. */
interface Node {
  readonly children: Map<string, Node>;
  /** Segments of a link's target; `undefined` within when it leads out by itself. */
  link?: { readonly segments: readonly string[] | undefined };
}

/**
 * The links of a source that lead out of it when they are followed, also by way of its other links: with `up -> ..` in
 * `a/`, the target `a/up/..` is outside although it does not look so. Absolute targets and circles lead out.
 *
 * The time is linear in the number of links, whatever they say.
 *
 * @param targets of all links of the source by their paths
 */
export function escapingLinks(targets: ReadonlyMap<string, string>): string[] {
  const root: Node = { children: new Map() };
  for (const [path, target] of targets) nodeAt(root, path).link = { segments: segmentsOf(target) };
  return [...targets.keys()].filter((path) => escapes(path, root));
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

function escapes(path: string, root: Node): boolean {
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
    if (steps++ > STEPS_MAX) return true;
    if (segment === "" || segment === ".") continue;
    if (segment === "..") {
      reached.pop();
      if (reached.length === 0) return true;
      continue;
    }
    const node = reached.at(-1)?.children.get(segment);
    if (!node?.link) reached.push(node);
    else if (!node.link.segments || ++links > LINKS_MAX) return true;
    else ahead.push({ segments: node.link.segments, next: 0 });
  }
  return false;
}
