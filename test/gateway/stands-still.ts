import { eventually } from "../support/eventually.ts";

/** So many looks in a row, for what is merely slow stands still between two of them. */
const LOOKS = 25;

/** Waits until a number has begun to grow and does not any more. */
export async function standsStill(read: () => number): Promise<void> {
  let [last, same] = [0, 0];
  const look = () => {
    const now = read();
    same = now > 0 && now === last ? same + 1 : 0;
    last = now;
    return { now, same };
  };
  await eventually("it stands still", look, ({ same: looks }) => looks >= LOOKS);
}
