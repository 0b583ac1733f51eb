import { type AnyObject, KIND_NAMES } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";

/**
 * The object of a row. Its spec is not judged again, for an older sless may have let in what this one would not.
 *
 * @throws SlessError `data_corrupt`, SyntaxError when it is no JSON
 */
export function objectOfRow(file: string, row: Readonly<Record<string, unknown>>): AnyObject {
  const { kind, namespace, name } = row;
  const object = JSON.parse(String(row.object)) as Partial<AnyObject> | null;
  const metadata = object?.metadata;
  const isItself = object?.kind === kind && metadata?.namespace === namespace && metadata?.name === name;
  const isWhole = typeof metadata?.resourceVersion === "string" && typeof object?.spec === "object";
  if (isItself && isWhole && KIND_NAMES.some((known) => known === kind)) return object as AnyObject;
  throw new SlessError("data_corrupt", { file, cause: `the row of ${kind} ${namespace}/${name} holds something else` });
}
