import { devNull } from "node:os";
import { dirname } from "node:path";

/**
 * The whole environment of our git processes: no configuration of the user or the machine, no prompts, no locks, no
 * replaced objects, and no way out to the network. The last matters because the repository's own configuration is
 * untrusted: a partial clone would fetch what is missing, by a command of its choice.
 */
export function gitEnvironment(git: string): Record<string, string> {
  return {
    PATH: dirname(git),
    HOME: devNull,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_SYSTEM: devNull,
    GIT_CONFIG_GLOBAL: devNull,
    // The repository may belong to another user: it was named on purpose, and is only read.
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "safe.directory",
    GIT_CONFIG_VALUE_0: "*",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_TERMINAL_PROMPT: "0",
  };
}
