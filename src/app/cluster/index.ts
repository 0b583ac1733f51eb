export { type ClusterComposition, startCluster } from "./start-cluster.ts";
