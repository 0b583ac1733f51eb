import type { GarbageItem, GarbageReport } from "../server/client.ts";
import { say } from "./io.ts";
import { inForm, OUTPUT_OPTION, type OutputForm } from "./output.ts";
import { oneLine, tableLines } from "./table.ts";
import { CLIENT_OPTIONS, type Verb } from "./verb.ts";

interface GcFlags {
  readonly dryRun?: boolean;
  readonly output?: OutputForm;
}

export const gc: Verb<GcFlags> = {
  name: "gc",
  summary: "Remove sources and images that nothing refers to any more, of all namespaces; sless does so by itself too",
  options: [
    {
      flags: "--dry-run",
      description: "only show what would go, and what goes later; exit code 1 when something would",
    },
    OUTPUT_OPTION,
    ...CLIENT_OPTIONS.filter(({ setting }) => setting !== "namespace"),
  ],
  examples: [
    { line: "sless gc --dry-run", does: "what would go now, and what is in its grace time" },
    { line: "sless gc -o json", does: "collect now, and tell all of it to a script" },
  ],
  async run(_args, { dryRun = false, output }, { io, style, client }) {
    const report = await client().collectGarbage({ dryRun });
    if (output === "json" || output === "yaml" || output === "name")
      io.stdout.write(inForm(output, report, report.items.filter(({ action }) => action === "remove").map(nameOf)));
    else for (const line of reportLines(report, output === "wide")) say(io.stdout, line);
    for (const { where, error } of report.failures) say(io.stderr, style.bad(`${where}: ${oneLine(error)}`));
    if (report.failures.length > 0) return 2;
    return dryRun && report.removed.count > 0 ? 1 : 0;
  },
};

function nameOf({ sort, name }: GarbageItem): string {
  return `${sort}/${name}`;
}

function reportLines({ dry_run, removed, waiting, kept, items }: GarbageReport, wide: boolean): string[] {
  const rows = items.map(({ sort, name, action, bytes, goes_at, why }) => {
    const when = action === "wait" ? goes_at : dry_run ? "now" : "gone";
    return [sort, name, sizeText(bytes), when, ...(wide ? [why] : [])];
  });
  const header = ["SORT", "NAME", "SIZE", "GOES", ...(wide ? ["WHY"] : [])];
  const more = removed.count + waiting.count - items.length;
  return [
    ...(rows.length > 0 ? tableLines(header, rows) : []),
    ...(more > 0 ? [`and ${more} more`] : []),
    `${removed.count} ${dry_run ? "would go" : "removed"} (${sizeText(removed.bytes)}), ` +
      `${waiting.count} in the grace time (${sizeText(waiting.bytes)}), ${kept} in use.`,
  ];
}

/** `512 B`, `1.5 MiB`. */
function sizeText(bytes: number | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  return step === 0 ? `${bytes} B` : `${(bytes / 1024 ** step).toFixed(1)} ${units[step]}`;
}
