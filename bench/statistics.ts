/** The middle of a list; the mean of the two middle ones when it is even. */
export const median = (values: readonly number[]): number => percentile(values, 50);

/** Interpolated between the two nearest ranks. @throws Error for an empty list */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) throw new Error("no values were measured");
  const sorted = [...values].sort((a, b) => a - b);
  const rank = ((sorted.length - 1) * percent) / 100;
  const [below, above] = [sorted[Math.floor(rank)]!, sorted[Math.ceil(rank)]!];
  return below + (above - below) * (rank - Math.floor(rank));
}
