/** Set-up of every test file: property tests draw their values from the seed of the run. */
import fc from "fast-check";
import { testSeed } from "./seed.ts";

fc.configureGlobal({ seed: testSeed() });
