export * from "./watch-worktree.ts";
export * from "./worktree.ts";
export * from "./worktree-reader.ts";
