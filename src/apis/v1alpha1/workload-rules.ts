import type { Fault, FieldRule } from "./kind-definition.ts";
import { ENV_MAX_CHARACTERS, ENV_NAME_PATTERN, isReservedEnvName } from "./workload-fields.ts";

const envName = new RegExp(ENV_NAME_PATTERN);

function nameFaults(field: string, spec: Readonly<Record<string, unknown>>): Fault[] {
  const names = Object.keys((spec[field] as Record<string, unknown> | undefined) ?? {});
  return names.flatMap((name) => {
    const path = ["spec", field, name];
    if (isReservedEnvName(name))
      return [{ path, message: `${name} is set by sless itself (PORT and SLESS_* are reserved); choose another name` }];
    if (!envName.test(name))
      return [
        {
          path,
          message: `"${name}" is no name of an environment variable: use letters, digits and _, not starting with a digit`,
        },
      ];
    return [];
  });
}

function envRule(field: "env" | "secretEnv"): FieldRule {
  return {
    cel: `!has(self.${field}) || self.${field}.all(name, name != 'PORT' && !name.startsWith('SLESS_') && name.matches('${ENV_NAME_PATTERN}'))`,
    message: `${field} names must be variable names; PORT and SLESS_* are reserved`,
    faults: (spec) => nameFaults(field, spec),
  };
}

/** A value with a NUL ends there for every program. */
const envValues: FieldRule = {
  cel: "!has(self.env) || self.env.all(name, !self.env[name].contains('\\u0000'))",
  message: "env values hold no NUL character",
  faults(spec): Fault[] {
    const values = Object.entries((spec.env ?? {}) as Record<string, string>);
    return values
      .filter(([, value]) => value.includes("\0"))
      .map(([name]) => ({
        path: ["spec", "env", name],
        message: "holds a NUL character, which no environment variable can; remove it",
      }));
  },
};

/** Characters as CEL counts them: code points, of which one has up to four bytes. */
const envSize: FieldRule = {
  cel: `!has(self.env) || self.env.map(name, size(name) + size(self.env[name])).sum() <= ${ENV_MAX_CHARACTERS}`,
  message: `names and values of env together have at most ${ENV_MAX_CHARACTERS} characters`,
  faults(spec): Fault[] {
    const texts = Object.entries((spec.env ?? {}) as Record<string, string>).flat();
    const characters = texts.reduce((sum, text) => sum + Array.from(text).length, 0);
    if (characters <= ENV_MAX_CHARACTERS) return [];
    const message = `names and values have ${characters} characters together, of at most ${ENV_MAX_CHARACTERS}; put what is large into a file of the source`;
    return [{ path: ["spec", "env"], message }];
  },
};

/** Names of `env` and `secretEnv` are usable and none stands in both. */
export const envRules: readonly FieldRule[] = [
  envRule("env"),
  envRule("secretEnv"),
  envValues,
  envSize,
  {
    cel: "!has(self.env) || !has(self.secretEnv) || self.env.all(name, !(name in self.secretEnv))",
    message: "a name stands in env and in secretEnv",
    faults(spec) {
      const env = (spec.env ?? {}) as Record<string, unknown>;
      const secretEnv = (spec.secretEnv ?? {}) as Record<string, unknown>;
      return Object.keys(secretEnv)
        .filter((name) => Object.hasOwn(env, name))
        .map((name) => ({ path: ["spec", "secretEnv", name], message: `${name} stands in env too; keep one of them` }));
    },
  },
];

/** Nothing but `.git` is wrong with it. */
function isGitPath(path: string): boolean {
  return !isEscapingPath(path.replaceAll(/(^|\/)\.git(?=\/|$)/g, "$1git"));
}

/** A `sourceDir` stays below the manifest's folder, and out of `.git`. */
export function isEscapingPath(path: string): boolean {
  return (
    path.startsWith("/") ||
    path.includes("\\") ||
    path.includes("\0") ||
    path.split("/").some((part) => part === ".." || part === ".git")
  );
}

export const sourceDirRule: FieldRule = {
  cel: "!has(self.sourceDir) || (!self.sourceDir.startsWith('/') && !self.sourceDir.split('/').exists(part, part == '..' || part == '.git'))",
  message: "sourceDir must stay below the manifest's folder, and out of .git",
  faults(spec) {
    if (typeof spec.sourceDir !== "string" || !isEscapingPath(spec.sourceDir)) return [];
    const message = isGitPath(spec.sourceDir)
      ? `"${spec.sourceDir}" is Git's own, which is no source; name another folder`
      : `"${spec.sourceDir}" leaves the manifest's folder; name a folder below it, or move the manifest up`;
    return [{ path: ["spec", "sourceDir"], message }];
  },
};
