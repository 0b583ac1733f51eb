export { plainPath } from "./folder-files.ts";
export { folderRepository } from "./folder-repository.ts";
export { goneFrom, neverDeployed } from "./never-deployed.ts";
export { deeperOf, openFolder, type PullFolder, refused } from "./open-folder.ts";
export * from "./pull-folder.ts";
export type { FolderState, PullAction, PullRow } from "./pull-request.ts";
export { pulledIntent } from "./pulled-intent.ts";
export { filesOf, type TrackedFiles } from "./tracked-files.ts";
