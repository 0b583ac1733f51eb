import { stringify } from "yaml";
import { type AnyObject, API_VERSION, type ObjectRef, refOf } from "../apis/index.ts";
import { withoutCredentials } from "../errors/index.ts";
import { pulledIntent } from "../pull/index.ts";
import { chosenObjects, ONLY_OPTION } from "./chosen-objects.ts";
import { nameOf } from "./kind-names.ts";
import { liveObjects } from "./live-objects.ts";
import { RESULT_OPTION, type ResultForm } from "./output.ts";
import { CLIENT_OPTIONS, type Verb } from "./verb.ts";

interface ExportOptions {
  readonly output: ResultForm;
  readonly only?: readonly string[];
}

const VERB = "export";

export const exportVerb: Verb<ExportOptions> = {
  name: VERB,
  summary: "Print the objects of a namespace as manifests, without what the server adds",
  options: [ONLY_OPTION, { ...RESULT_OPTION, description: "form", fallback: "yaml" }, ...CLIENT_OPTIONS],
  examples: [
    { line: "sless export > all.yaml", does: "everything, in a form that kubectl applies" },
    { line: "sless export --only function/hello triggers", does: "one function, and all triggers" },
    { line: "sless pull --into .", does: "the same as folders, with the code" },
  ],
  async run(_args, { output, only }, context) {
    const chosen = chosenObjects(only, VERB);
    const { repositories, objects } = await liveObjects(context, VERB);
    const all: AnyObject[] = [...repositories, ...objects];
    chosen.check(all.map((object) => refOf(object) as ObjectRef));
    const wanted = all.filter((object) => chosen.has(refOf(object)));
    await context.io.stdout.write(textOf(wanted, output));
    return 0;
  },
};

function textOf(objects: readonly AnyObject[], form: ResultForm): string {
  if (form === "name") return objects.map((object) => `${nameOf(refOf(object))}\n`).join("");
  const plain = objects.map(plainObject);
  return form === "json" ? toJson(plain) : plain.map(toYaml).join("---\n");
}

/** What somebody would write to get the object; secrets are only named. */
function plainObject(live: AnyObject): object {
  const { kind, metadata, spec } = pulledIntent(live, undefined);
  const url = live.kind === "Repository" ? { url: withoutCredentials(live.spec.url) } : {};
  return { apiVersion: API_VERSION, kind, metadata, spec: { ...spec, ...url } };
}

function toYaml(object: object): string {
  // Quoted where other readers of YAML would take a text for something else.
  return stringify(object, { compat: "yaml-1.1", lineWidth: 0 });
}

function toJson(items: readonly object[]): string {
  return `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2)}\n`;
}
