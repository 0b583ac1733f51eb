import { describe } from "vitest";
import { resourceStoreContract } from "../../contract/resource-store.ts";
import { memoryStore } from "../../support/memory-store.ts";

describe("the embedded store", () => {
  resourceStoreContract(async () => ({
    store: await memoryStore(),
    namespace: "demo",
    otherNamespace: "other",
  }));
});
