/** Finds and imports the handler that an entry point names. */
import { statSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { format } from "node:util";
import { refuse, writeAll } from "./settings.mjs";

const EXTENSIONS = [".js", ".mjs", ".cjs"];

/** The function of the entry point. Ends the process with exit code 65 and a reason when there is none. */
export async function loadHandler(settings) {
  const { source, entrypoint } = settings;
  const at = Math.max(entrypoint.lastIndexOf("."), entrypoint.lastIndexOf(":"));
  if (at < 1 || at === entrypoint.length - 1)
    refuse(`the entry point ${entrypoint} is not module.function; write for example handler.handle`);
  const name = entrypoint.slice(at + 1);
  const path = findFile(source, entrypoint.slice(0, at), entrypoint);
  const shown = relative(source, path);
  const exported = await importFile(path, shown);
  const handler = exported[name] ?? exported.default?.[name];
  if (typeof handler !== "function") refuse(missingFunction(shown, name, exported, handler, entrypoint));
  return handler;
}

function findFile(source, module, entrypoint) {
  const bases = module.includes("/") ? [module] : [module, module.replaceAll(".", "/")];
  for (const base of bases) {
    const exact = EXTENSIONS.some((extension) => base.endsWith(extension)) ? [base] : [];
    const candidates = EXTENSIONS.flatMap((extension) => [base + extension, `${base}/index${extension}`]);
    for (const candidate of [...exact, ...candidates]) {
      const path = resolve(source, candidate);
      if (path.startsWith(source + sep) && statSync(path, { throwIfNoEntry: false })?.isFile()) return path;
    }
  }
  const wanted = EXTENSIONS.map((extension) => bases.at(-1) + extension).join(", ");
  return refuse(`none of ${wanted} is in the source; add it, or correct spec.entrypoint (${entrypoint})`);
}

async function importFile(path, shown) {
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    writeAll(`${format(error)}\n`);
    return refuse(`${shown} failed at import: ${reasonOf(error, dirname(path))}`);
  }
}

function reasonOf(error, folder) {
  const text = error instanceof Error ? `${error.name}: ${error.message.split("\n")[0]}` : format(error);
  if (/import statement outside a module|Unexpected token 'export'/.test(text))
    return `${text}; it is an ES module: name it .mjs, or write "type": "module" into package.json`;
  if (/(?:require|module|exports) is not defined in ES module scope/.test(text))
    return `${text.split(",")[0]}; it is CommonJS: name it .cjs, or leave "type": "module" out of package.json`;
  const missing = /Cannot find (?:package|module) '((?:@[^'/]+\/)?[^'./@][^'/]*)/.exec(text)?.[1];
  if (missing !== undefined) return `the package ${missing} is not installed; add it to dependencies of package.json`;
  if (error?.code === "ERR_MODULE_NOT_FOUND" || error?.code === "MODULE_NOT_FOUND")
    return `${text.replaceAll(folder + sep, "")}; add the file to the source`;
  return `${text}; the stack is above`;
}

function missingFunction(shown, name, exported, found, entrypoint) {
  if (found !== undefined && found !== null)
    return `${name} of ${shown} is of type ${typeof found} and no function; export it as one`;
  if (typeof exported.default === "function")
    return `${shown} exports a function without a name; export it as ${name}, or write the entry point with its name`;
  const functions = Object.entries({ ...exported.default, ...exported })
    .filter(([, value]) => typeof value === "function")
    .map(([key]) => key);
  const there = functions.length > 0 ? `; functions there: ${functions.slice(0, 10).join(", ")}` : "";
  return `${shown} exports no function ${name}${there}; add it, or correct spec.entrypoint (${entrypoint})`;
}
