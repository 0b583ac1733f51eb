import { API_VERSION, KINDS, type ObjectIntent } from "../apis/index.ts";
import { type Fields, INDENT_STEP, renderPairs } from "./render-map.ts";

/**
 * A new document for an object, without `---`: fields in the order of the schema, no namespace. Pure.
 *
 * @param eol `\n` by default
 */
export function renderManifest(intent: ObjectIntent, eol = "\n"): string {
  return renderPairs(manifestFields(intent), { indent: "", step: INDENT_STEP, eol });
}

/** What a manifest of the object says, in the order in which people read it. */
export function manifestFields({ kind, metadata, spec }: ObjectIntent): Fields {
  const { name, labels, annotations } = metadata;
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: inSchemaOrder(kind, spec as Fields),
  };
}

function inSchemaOrder(kind: ObjectIntent["kind"], spec: Fields): Fields {
  const order = Object.keys(KINDS[kind].spec.properties);
  const fields = Object.entries(spec).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)));
}
