export {
  createKubernetesEvents,
  type KubernetesEvents,
  type KubernetesEventsOptions,
} from "./create-kubernetes-events.ts";
export type { ListedEvent } from "./listed-events.ts";
