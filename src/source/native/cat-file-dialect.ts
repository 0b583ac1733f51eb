/** How a batch of `git cat-file` is asked. */
export interface CatFileDialect {
  readonly options: readonly string[];
  write(ids: readonly string[], withContent: boolean): string;
}

/** The git that came with `--batch-command`. */
export const COMMANDS_SINCE = [2, 36] as const;

/**
 * Contents and sizes from one process. It gathers its answers until `flush`, where the older forms write each one by
 * itself: a third of the time for many small objects.
 */
export const COMMANDS: CatFileDialect = {
  options: ["--batch-command", "--buffer"],
  write(ids, withContent) {
    const command = withContent ? "contents" : "info";
    return `${ids.map((id) => `${command} ${id}\n`).join("")}flush\n`;
  },
};

const writeIds = (ids: readonly string[]) => `${ids.join("\n")}\n`;

export const CONTENTS: CatFileDialect = { options: ["--batch"], write: writeIds };
export const CHECKS: CatFileDialect = { options: ["--batch-check"], write: writeIds };
