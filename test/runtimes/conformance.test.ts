import { runtimeConformance } from "./conformance.ts";
import { allMachines } from "./machines.ts";

for (const machine of await allMachines()) runtimeConformance(machine);
