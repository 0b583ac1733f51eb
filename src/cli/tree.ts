import type { JobItem, RepositoryItem, SlessClient, TriggerItem, WorkloadItem } from "../server/client.ts";
import { say } from "./io.ts";
import { OUTPUT_OPTION, type OutputForm, serialized } from "./output.ts";
import { repositoryArgument } from "./repository-argument.ts";
import type { Style } from "./style.ts";
import { oneLine, shortRevision } from "./table.ts";
import { OPTIONAL_REPOSITORY_ARGUMENTS, READ_OPTIONS, type Verb } from "./verb.ts";

interface TreeOptions {
  readonly output?: OutputForm;
}

/** An object and what hangs on it; printed as it is by `-o json` and `yaml`. */
export interface TreeNode {
  /** `function`, or `none` for what no repository owns. */
  readonly kind: string;
  readonly name: string;
  readonly phase: string;
  /** What is best known beside the phase: revision, URL, schedule, path. */
  readonly detail?: string;
  readonly children: readonly TreeNode[];
}

export const tree: Verb<TreeOptions> = {
  name: "tree",
  summary: "Show repositories with their objects, and how each of them is",
  arguments: OPTIONAL_REPOSITORY_ARGUMENTS,
  options: [OUTPUT_OPTION, ...READ_OPTIONS],
  examples: [
    { line: "sless tree", does: "all repositories of the namespace, and what nobody owns" },
    { line: "sless tree repository example -o wide", does: "one, with the paths of the manifests" },
  ],
  async run(args, { output }, context) {
    const { io, settings, style, client } = context;
    const only = await repositoryArgument(args, "tree", context);
    const nodes = await readTree(client(), settings.namespace, only, output === "wide");
    if (output === "json" || output === "yaml") io.stdout.write(serialized({ items: nodes }, output));
    else if (output === "name") for (const name of namesIn(nodes)) say(io.stdout, name);
    else if (nodes.length === 0) say(io.stderr, `Nothing is in namespace ${settings.namespace}.`);
    else for (const line of nodes.flatMap((node) => nodeLines(node, style))) say(io.stdout, line);
    return 0;
  },
};

/** One repository, or all of them and what nobody owns. */
async function readTree(
  client: SlessClient,
  namespace: string,
  only: string | undefined,
  wide: boolean,
): Promise<TreeNode[]> {
  const of = { namespace };
  const [functions, services, jobs, triggers, repositories] = await Promise.all([
    client.list("functions", of),
    client.list("services", of),
    client.list("jobs", of),
    client.list("triggers", of),
    only === undefined ? client.list("repositories", of) : client.get("repositories", only, of).then((one) => [one]),
  ]);
  const items: Owned[] = [
    ...functions.map((item): Owned => ({ kind: "function", item, target: undefined })),
    ...services.map((item): Owned => ({ kind: "service", item, target: undefined })),
    ...jobs.map((item): Owned => ({ kind: "job", item, target: item.function_ref })),
    ...triggers.map((item): Owned => ({ kind: "trigger", item, target: item.function_ref })),
  ];
  const byOwner = Map.groupBy(items, ({ item }) => item.repository?.name);
  const ownedBy = (name: string | undefined) => nest(byOwner.get(name) ?? [], wide);
  const nodes = repositories.map((repository) => ({
    ...repositoryNode(repository),
    children: ownedBy(repository.name),
  }));
  const nobody = only === undefined ? ownedBy(undefined) : [];
  if (nobody.length === 0) return nodes;
  return [...nodes, { kind: "none", name: "without a repository", phase: "", children: nobody }];
}

type Owned =
  | { readonly kind: "function" | "service"; readonly item: WorkloadItem; readonly target: undefined }
  | { readonly kind: "job"; readonly item: JobItem; readonly target: string | undefined }
  | { readonly kind: "trigger"; readonly item: TriggerItem; readonly target: string };

/** Triggers, and jobs that run a function, hang on what they call; where that is another's, they stand alone. */
function nest(owned: readonly Owned[], wide: boolean): TreeNode[] {
  const workloads = new Set(owned.filter(({ kind }) => isWorkload(kind)).map(({ item }) => item.name));
  const byTarget = Map.groupBy(owned, ({ target }) => target);
  const hangs = ({ target }: Owned) => target !== undefined && workloads.has(target);
  const childrenOf = ({ kind, item }: Owned) =>
    isWorkload(kind) ? (byTarget.get(item.name) ?? []).map((other) => nodeOf(other, [], wide)) : [];
  return owned.filter((one) => !hangs(one)).map((one) => nodeOf(one, childrenOf(one), wide));
}

function isWorkload(kind: Owned["kind"]): boolean {
  return kind === "function" || kind === "service";
}

function nodeOf(owned: Owned, children: readonly TreeNode[], wide: boolean): TreeNode {
  const { kind, item } = owned;
  const details = [detailOf(owned), wide ? item.repository?.path : undefined].filter(Boolean).join("  ");
  const phase = item.deleting ? "Deleting" : phaseOf(owned);
  return { kind, name: item.name, phase, ...(details ? { detail: details } : {}), children };
}

function phaseOf({ kind, item }: Owned): string {
  if (kind !== "trigger") return item.phase;
  if (!item.enabled) return "Disabled";
  return item.active ? "Active" : "Inactive";
}

function detailOf({ kind, item, target }: Owned): string | undefined {
  switch (kind) {
    case "function":
    case "service":
      return `${item.serving_replicas}/${item.replicas ?? 1}${item.url ? `  ${item.url}` : ""}`;
    case "job":
      return target === undefined ? undefined : `runs ${target}`;
    case "trigger":
      return [item.type, item.schedule ?? item.queue].filter(Boolean).join(" ");
    default:
      return kind satisfies never;
  }
}

function repositoryNode(repository: RepositoryItem): Omit<TreeNode, "children"> {
  const phase = repository.suspend ? "Suspended" : repository.ready ? "Ready" : "NotReady";
  const revision = shortRevision(repository.last_applied_revision) ?? "nothing applied yet";
  const detail = repository.ready || !repository.message ? revision : `${revision}  ${oneLine(repository.message)}`;
  return { kind: "repository", name: repository.name, phase, detail };
}

const BAD_PHASES = ["Failed", "NotReady"];

/** Lines with branches drawn, two children deep. */
export function nodeLines(node: TreeNode, style: Style): string[] {
  const { kind, name, phase, detail, children } = node;
  const title = kind === "none" ? name : `${style.strong(`${kind}/${name}`)}`;
  const shownPhase = BAD_PHASES.includes(phase) ? style.bad(phase) : phase;
  const head = [title, shownPhase, detail && style.weak(detail)].filter(Boolean).join("  ");
  const branches = children.flatMap((child, index) => {
    const isLast = index === children.length - 1;
    const [first = "", ...rest] = nodeLines(child, style);
    return [`${isLast ? "└─" : "├─"} ${first}`, ...rest.map((line) => `${isLast ? "  " : "│ "} ${line}`)];
  });
  return [head, ...branches];
}

function namesIn(nodes: readonly TreeNode[]): string[] {
  return nodes.flatMap(({ kind, name, children }) => [
    ...(kind === "none" ? [] : [`${kind}/${name}`]),
    ...namesIn(children),
  ]);
}
