/** Further than any file system follows, or round in circles. */
const STEPS_MAX = 4096;

/**
 * Whether following a symbolic link leaves the source, also by way of its other links: with `up -> ..` in `a/`, the
 * target `a/up/..` is outside although it does not look so. Absolute targets and circles leave it.
 *
 * @param path of the link, relative to the source
 * @param targets of all links of the source by their paths
 */
export function linkEscapes(path: string, targets: ReadonlyMap<string, string>): boolean {
  const reached: string[] = [];
  const ahead = path.split("/").reverse();
  for (let steps = 0; ahead.length > 0; steps++) {
    if (steps > STEPS_MAX) return true;
    const segment = ahead.pop()!;
    if (segment === "..") {
      if (reached.pop() === undefined) return true;
    } else if (segment !== "" && segment !== ".") {
      reached.push(segment);
      const target = targets.get(reached.join("/"));
      if (target === undefined) continue;
      if (target === "" || target.startsWith("/") || /[\\\0]/.test(target) || target.length > STEPS_MAX) return true;
      reached.pop();
      ahead.push(...target.split("/").reverse());
    }
  }
  return false;
}
