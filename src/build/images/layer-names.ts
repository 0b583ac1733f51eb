import { BuildFault } from "../build-fault.ts";

const WHITEOUT = ".wh.";
const SHOWN = 3;

/**
 * Refuses files that an image cannot hold: in a layer such a name says that something below is removed (OCI image
 * specification, "whiteouts"), and the file itself would be lost without a word.
 *
 * @throws BuildFault `build_failed`
 */
export function checkLayerNames(files: readonly { readonly path: string }[]): void {
  const faulty = files.filter(({ path }) => path.split("/").some((part) => part.startsWith(WHITEOUT)));
  if (faulty.length === 0) return;
  const shown = faulty.slice(0, SHOWN).map(({ path }) => JSON.stringify(path.slice(0, 200)));
  const more = faulty.length > SHOWN ? ` and ${faulty.length - SHOWN} more` : "";
  const names = `${shown.join(", ")}${more}`;
  throw new BuildFault("build_failed", {
    cause: `an image cannot hold ${names}: names that begin with ${WHITEOUT} stand for removed files; rename them, or name them in .slessignore`,
  });
}
