import { runtimeConformance } from "./conformance.ts";
import { allMachines } from "./machines.ts";

const seen = new Set<string>();
for (const machine of await allMachines()) {
  const served = `${machine.runtime.folder} ${machine.interpreter.path}`;
  runtimeConformance(machine, seen.has(served));
  seen.add(served);
}
