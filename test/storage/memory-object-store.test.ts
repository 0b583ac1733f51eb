import { describe } from "vitest";
import { objectStoreContract } from "../contract/object-store.ts";
import { memoryObjectStore } from "../support/memory-object-store.ts";

describe("the object store of tests", () => {
  objectStoreContract(async () => memoryObjectStore());
});
