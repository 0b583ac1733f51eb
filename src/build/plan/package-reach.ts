/** Scripts that npm runs in the root of what it installs. */
const SCRIPTS = ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"];
const DEPENDENCIES = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
const LOCAL = /^(?:file:|link:|portal:|workspace:|~\/|\/|\.{1,2}(?:\/|$))/i;
const LOCAL_ARCHIVE = /^(?![a-z][a-z0-9+.-]*:).*\.(?:tgz|tar|tar\.gz)$/i;

/**
 * What of a package.json cannot be installed from the dependency files alone, in words; undefined when nothing. One
 * that npm cannot read is npm's to refuse.
 */
export function packageReach(text: string): string | undefined {
  const manifest = parsed(text);
  if (!manifest) return undefined;
  const script = SCRIPTS.find((name) => typeof recordOf(manifest.scripts)[name] === "string");
  if (script) return `has an install script (${script})`;
  if (hasWorkspaces(manifest.workspaces)) return "has workspaces";
  for (const field of DEPENDENCIES)
    for (const [name, wanted] of Object.entries(recordOf(manifest[field])))
      if (typeof wanted === "string" && isLocal(wanted))
        return `takes ${shown(name)} from the source (${shown(wanted)})`;
  const override = localOverride(manifest.overrides);
  return override === undefined ? undefined : `takes ${shown(override)} from the source (overrides)`;
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return value !== null && typeof value === "object" ? recordOf(value) : undefined;
  } catch {
    return undefined;
  }
}

function recordOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function hasWorkspaces(workspaces: unknown): boolean {
  const list = Array.isArray(workspaces) ? workspaces : recordOf(workspaces).packages;
  return Array.isArray(list) && list.length > 0;
}

function isLocal(wanted: string): boolean {
  return LOCAL.test(wanted.trim()) || LOCAL_ARCHIVE.test(wanted.trim());
}

const DEPTH_MAX = 100;

function localOverride(overrides: unknown, depth = 0): string | undefined {
  if (depth > DEPTH_MAX) return undefined;
  for (const [name, value] of Object.entries(recordOf(overrides))) {
    if (typeof value === "string" && isLocal(value)) return name;
    const nested = localOverride(value, depth + 1);
    if (nested !== undefined) return nested;
  }
  return undefined;
}

function shown(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
