/** `count` has no unit. */
export type Unit = "ms" | "s" | "MB" | "count";

export interface Amount {
  readonly value: number;
  readonly unit: Unit;
}

/** One line of the table. */
export interface Figure {
  readonly name: string;
  readonly amount: Amount;
  /** Measured in the same run. */
  readonly baseline?: Amount & { readonly of: string };
  /** Where it is not that of the two amounts: the median of what each round came to. */
  readonly ratio?: number;
  /** Without one the figure is for information only. */
  readonly target?: { readonly text: string; readonly met: boolean };
  /** What it is made of, how it was counted. */
  readonly note?: string;
}

/** Times the baseline. */
export function ratioOf({ amount, baseline, ratio }: Figure): number | undefined {
  return ratio ?? (baseline && amount.value / baseline.value);
}

export function atMost(limit: number, { value, unit }: Amount): NonNullable<Figure["target"]> {
  return { text: `≤ ${amountText({ value: limit, unit })}`, met: value <= limit };
}

export function amountText({ value, unit }: Amount): string {
  if (unit === "count") return String(value);
  if (unit === "MB") return `${Math.round(value)} MB`;
  if (unit === "s") return `${value.toFixed(2)} s`;
  return value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`;
}
