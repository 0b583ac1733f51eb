import type { SlessClient } from "../server/client.ts";
import type { Style } from "./style.ts";
import { firstLine, tableLines } from "./table.ts";

/** The output behind a message has been shown when it came, and is in `describe`. */
const MESSAGE_WIDTH = 200;

interface FirstLookOptions {
  readonly client: SlessClient;
  /** Name of the Repository object. */
  readonly repository: string;
  /** Path of the repository, as the user would type it. */
  readonly place: string;
  /** It is the example, as it was made or with what was pushed since. */
  readonly isExample: boolean;
  /** Saving is enough; nothing need be committed. */
  readonly worktree: boolean;
  readonly namespace: string;
  readonly style: Style;
}

interface Shown {
  readonly kind: string;
  readonly name: string;
  readonly phase: string;
  readonly url: string | undefined;
  readonly message: string | undefined;
}

/** What runs after the first sync, what does not and why, and what to try next. */
export async function firstLook(options: FirstLookOptions): Promise<string[]> {
  const { client, namespace, style } = options;
  const [functions, services, jobs, repository] = await Promise.all([
    client.list("functions", { namespace }),
    client.list("services", { namespace }),
    client.list("jobs", { namespace }),
    client.get("repositories", options.repository, { namespace }),
  ]);
  const all: Shown[] = [
    ...functions.map((item) => ({ ...item, kind: "function" })),
    ...services.map((item) => ({ ...item, kind: "service" })),
    ...jobs.map((item) => ({ ...item, kind: "job", url: undefined })),
  ];
  const failed = all.filter(({ phase }) => phase === "Failed");
  const summary =
    repository.ready || !repository.message ? [] : [style.bad(firstLine(repository.message, MESSAGE_WIDTH))];
  return [
    "",
    ...summary,
    ...(all.length > 0 ? table(all, style) : [`No functions in ${options.place} yet.`]),
    ...failed.flatMap(({ name, message }) => [
      "",
      `${style.bad("✗")} ${style.strong(name)}: ${firstLine(message, MESSAGE_WIDTH)}`,
    ]),
    "",
    ...nextLines(options, all),
  ];
}

function table(all: readonly Shown[], style: Style): string[] {
  const rows = all.map(({ kind, name, phase, url }) => [name, kind, phase, url]);
  const [header = "", ...lines] = tableLines(["NAME", "KIND", "PHASE", "URL"], rows);
  return [
    style.strong(header),
    ...lines.map((line, index) => (all[index]?.phase === "Failed" ? style.bad(line) : line)),
  ];
}

/** What to try next, to be copied as it stands. */
function nextLines({ place, worktree, isExample, style }: FirstLookOptions, all: readonly Shown[]): string[] {
  const functions = all.filter(({ kind }) => kind !== "job");
  if (functions.length === 0) {
    const init = [style.strong("Try next:"), "  npx sless init my-function --runtime python3.11"];
    return worktree ? init : [...init, "  then commit and push it"];
  }
  if (worktree) return [`Save a file in ${place} and it is live.`];
  const hello = isExample ? functions.find(({ name }) => name === "hello") : undefined;
  const callable = hello?.url ? hello : functions.find(({ url }) => url !== undefined);
  return [
    ...(callable ? [style.strong("Call one:"), `  curl -d '{"name":"Ada"}' ${callable.url}`] : []),
    ...(hello ? changeLines(place, style) : [`Commit to ${place} and it is live.`]),
  ];
}

function changeLines(place: string, style: Style): string[] {
  return [
    style.strong("Change it:"),
    `  git clone ${place} my && cd my`,
    "  sed -i.bak 's/Hello/Welcome/' functions/hello/handler.py && rm functions/hello/*.bak",
    '  git commit -am "A warmer hello" && git push',
  ];
}
