import type { KeptRevisionItem } from "../server/client.ts";
import { say } from "./io.ts";
import { OUTPUT_OPTION, type OutputForm, serialized } from "./output.ts";
import { ageText, type Row, shortRevision, tableLines } from "./table.ts";
import { READ_OPTIONS, type Verb, workloadArguments } from "./verb.ts";
import { workloadNamed } from "./workload-named.ts";

interface HistoryOptions {
  readonly output?: OutputForm;
}

export const history: Verb<HistoryOptions> = {
  name: "history",
  summary: "List the revisions of a function or service that served, the newest first",
  arguments: workloadArguments("functions", "services"),
  options: [OUTPUT_OPTION, ...READ_OPTIONS],
  examples: [
    { line: "sless history hello", does: "what served, and what can be gone back to" },
    { line: "sless history service/web -o wide", does: "the same with images and manifests" },
  ],
  async run(args, { output }, { io, settings, client }) {
    const { namespace } = settings;
    const among = ["functions", "services"] as const;
    const { plural, name } = await workloadNamed(args, { client: client(), namespace, among, verb: "history" });
    const items = await client().history(plural, name, { namespace });
    const fullName = `${plural.replace(/s$/, "")}/${name}`;
    if (output === "json" || output === "yaml") io.stdout.write(serialized({ items }, output));
    else if (output === "name") for (const { number } of items) say(io.stdout, `${fullName}@${number}`);
    else if (items.length === 0) say(io.stderr, `Nothing of ${fullName} has served yet.`);
    else for (const line of historyLines(items, output === "wide", new Date())) say(io.stdout, line);
    return 0;
  },
};

function historyLines(items: readonly KeptRevisionItem[], wide: boolean, now: Date): string[] {
  const header = ["NUMBER", "SERVED", "REVISION", "DIGEST", "KEPT", ...(wide ? ["PATH", "IMAGE"] : [])];
  const rows = items.map((item): Row => {
    const { number, served_at, revision, source_digest, path, image_ref } = item;
    const age = ageText(served_at, now);
    const shown = wide ? revision : shortRevision(revision);
    const digest = source_digest.slice(0, 12);
    return [
      String(number),
      age && `${age} ago`,
      shown ?? "uploaded",
      digest,
      keptOf(item),
      ...(wide ? [path, image_ref] : []),
    ];
  });
  return tableLines(header, rows);
}

/** What is still there of it. */
function keptOf({ source_present: source, image_present: image }: KeptRevisionItem): string {
  if (source === undefined || image === undefined) return "unknown";
  if (source && image) return "yes";
  if (source) return "source, no image";
  return image ? "image, no source" : "no";
}
