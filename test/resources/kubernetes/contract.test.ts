import { resourceStoreContract } from "../../contract/resource-store.ts";
import { clusterStore } from "../../support/cluster-store.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";

describeOnCluster("the store on an API server", (cluster) => {
  resourceStoreContract(async () => ({
    store: clusterStore(cluster()).store,
    namespace: await cluster().createNamespace("store"),
    otherNamespace: await cluster().createNamespace("other"),
  }));
});
