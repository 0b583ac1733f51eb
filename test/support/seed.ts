const FIXED = 20_261_130;

/**
 * The seed of everything random in the tests: fixed, so that a run can be repeated and a change is judged by itself;
 * `SLESS_SEED=<number>` names another one, `SLESS_SEED=random` draws one.
 */
export function testSeed(given: string | undefined = process.env.SLESS_SEED): number {
  if (given === "random") return 1 + Math.floor(Math.random() * 999_999);
  const seed = Number(given);
  return Number.isSafeInteger(seed) && seed > 0 ? seed : FIXED;
}
