export { syncFolder } from "./sync-folder.ts";
