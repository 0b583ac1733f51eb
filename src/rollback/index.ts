export { checkoutGit } from "./checkout-git.ts";
export { pickRevision } from "./pick-revision.ts";
export { type RollbackResult, rollBack } from "./roll-back.ts";
