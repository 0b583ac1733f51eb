export {
  createHooks,
  type Delivery,
  type DeliveryAnswer,
  type DeliveryOutcome,
  type Hooks,
  type HooksDeps,
} from "./create-hooks.ts";
export { hookSecretFault } from "./hook-targets.ts";
