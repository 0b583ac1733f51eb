import type { CommonItem, ItemOf, Plural } from "../server/client.ts";
import { ageText, firstLine, type Row, shortRevision } from "./table.ts";

/** The whole message is in `describe`. */
const MESSAGE_WIDTH = 120;

interface Column<Item> {
  readonly title: string;
  /** Only with -o wide. */
  readonly wide?: true;
  cell(item: Item, now: Date): string | undefined;
}

const name = { title: "NAME", cell: (item: CommonItem) => item.name };
const age = { title: "AGE", cell: (item: CommonItem, now: Date) => ageText(item.created_at, now) };
const path = { title: "PATH", wide: true, cell: (item: CommonItem) => item.repository?.path } as const;
const revision = {
  title: "REVISION",
  wide: true,
  cell: (item: CommonItem) => shortRevision(item.repository?.revision),
} as const;
const message = {
  title: "MESSAGE",
  wide: true,
  cell: (item: { message: string | undefined }) => firstLine(item.message, MESSAGE_WIDTH),
} as const;

const workload: readonly Column<ItemOf["functions"]>[] = [
  name,
  { title: "RUNTIME", cell: (item) => item.runtime },
  { title: "PHASE", cell: (item) => phaseOf(item) },
  { title: "REPLICAS", cell: (item) => `${item.serving_replicas}/${item.replicas ?? 1}` },
  { title: "URL", cell: (item) => item.url },
  age,
  { title: "DIGEST", wide: true, cell: (item) => item.source_digest?.slice(0, 12) },
  revision,
  path,
  message,
];

/** Columns of `get` by kind. */
const COLUMNS: { readonly [P in Plural]: readonly Column<ItemOf[P]>[] } = {
  functions: workload,
  services: workload,
  jobs: [
    name,
    { title: "RUNTIME", cell: (item) => item.runtime ?? `of ${item.function_ref}` },
    { title: "PHASE", cell: (item) => phaseOf(item) },
    { title: "RUN", cell: (item) => String(item.last_run_id ?? 0) },
    { title: "COMPLETED", cell: (item, now) => ageText(item.completion_time, now) },
    age,
    revision,
    path,
    message,
  ],
  triggers: [
    name,
    { title: "TYPE", cell: (item) => item.type },
    { title: "FUNCTION", cell: (item) => item.function_ref },
    { title: "ENABLED", cell: (item) => yesNo(item.enabled) },
    { title: "ACTIVE", cell: (item) => yesNo(item.active) },
    { title: "URL", cell: (item) => item.url },
    age,
    revision,
    path,
  ],
  repositories: [
    name,
    { title: "READY", cell: (item) => yesNo(item.ready) },
    { title: "APPLIED", cell: (item) => shortRevision(item.last_applied_revision) },
    { title: "OBJECTS", cell: (item) => String(item.objects) },
    { title: "FAULTS", cell: (item) => String(item.diagnostics) },
    { title: "URL", cell: (item) => item.url },
    age,
    message,
  ],
};

/** Header and rows of the items of a kind. */
export function tableOf<P extends Plural>(
  plural: P,
  items: readonly ItemOf[P][],
  options: { wide: boolean; now: Date },
): { header: string[]; rows: Row[] } {
  const columns = COLUMNS[plural].filter((column) => options.wide || !column.wide);
  return {
    header: columns.map((column) => column.title),
    rows: items.map((item) => columns.map((column) => column.cell(item, options.now))),
  };
}

/** What is on its way out says so. */
function phaseOf(item: { phase: string; deleting: boolean }): string {
  return item.deleting ? "Deleting" : item.phase;
}

function yesNo(value: boolean): string {
  return value ? "yes" : "no";
}
