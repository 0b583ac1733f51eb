import { GROUP } from "../apis/index.ts";

const YAML_NAME = /\.ya?ml$/i;
const FIXED_NAME = /^(?:function|service|job|trigger)\.ya?ml$/;

/** The file may hold YAML documents, by its name. */
export function isYamlName(path: string): boolean {
  return YAML_NAME.test(path);
}

/** A file whose name alone makes it a manifest, whatever it holds but documents of other groups. */
export function isFixedManifestName(path: string): boolean {
  return FIXED_NAME.test(path.slice(path.lastIndexOf("/") + 1));
}

/**
 * A line that sets `apiVersion`, at any depth and in any style (`- apiVersion:`, `{"apiVersion": …}`), comments aside.
 * Group 1 is the rest of the line. Anchored at line starts, so the time is linear.
 */
const API_VERSION_LINE = /^(?:[^#\r\n]*[\s{,"'-])?apiVersion["']?[ \t]*:(.*)$/gm;

/**
 * The file is ours (design §3), told without parsing: a YAML file of a fixed name, unless its `apiVersion` lines all
 * name other groups; any other YAML file with a line `apiVersion: …sless.kube5s.ru…`.
 */
export function looksLikeManifest(path: string, text: string): boolean {
  if (!isYamlName(path)) return false;
  const isFixed = isFixedManifestName(path);
  if (!isFixed && !text.includes(GROUP)) return false;
  let namesOthers = false;
  for (const [, value] of text.matchAll(API_VERSION_LINE)) {
    if (withoutComment(value!).includes(GROUP)) return true;
    namesOthers = true;
  }
  return isFixed && !namesOthers;
}

function withoutComment(value: string): string {
  const comment = value.search(/\s#/);
  return comment < 0 ? value : value.slice(0, comment);
}
