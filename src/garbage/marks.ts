import type { ObjectStore } from "../storage/index.ts";

/**
 * Where it is remembered since when a thing is unused: beside the things, so that it is known after a restart, to
 * whoever leads next, and of what has no time of its own (images).
 */
const MARKS = "garbage/marks/";

/** Said of a thing: unused since; being removed since. */
export interface Mark {
  readonly id: string;
  readonly says: "unused" | "removing";
  readonly since: Date;
  readonly key: string;
}

export function unusedKey(id: string, since: Date): string {
  return `${MARKS}${id}/unused-${timeText(since)}`;
}

/** @param run tells who removes it, for several may at the same time */
export function removingKey(id: string, since: Date, run: string): string {
  return `${MARKS}${id}/removing-${timeText(since)}-${run}`;
}

/** What is said of things whose ids begin so. */
export async function* marksOf(objects: Pick<ObjectStore, "list">, ids: string): AsyncGenerator<Mark> {
  for await (const key of objects.list(`${MARKS}${ids}`)) {
    const mark = parseMark(key);
    if (mark) yield mark;
  }
}

/** What is said of one thing. */
export async function marksOn(objects: Pick<ObjectStore, "list">, id: string): Promise<Mark[]> {
  const marks: Mark[] = [];
  for await (const mark of marksOf(objects, `${id}/`)) if (mark.id === id) marks.push(mark);
  return marks;
}

/** Times as names have them: `20260102T030405678Z`. */
function timeText(time: Date): string {
  return time.toISOString().replaceAll(/[-:.]/g, "");
}

function parseMark(key: string): Mark | undefined {
  const found =
    /^garbage\/marks\/(.+)\/(unused|removing)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z(?:-[\w-]+)?$/.exec(key);
  if (!found) return undefined;
  const [, id = "", says, ...numbers] = found;
  const [year = 0, month = 0, ...rest] = numbers.map(Number);
  const since = new Date(Date.UTC(year, month - 1, ...(rest as [number, number, number, number, number])));
  return { id, says: says as Mark["says"], since, key };
}
