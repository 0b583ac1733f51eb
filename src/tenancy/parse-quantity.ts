const SUFFIXES: Readonly<Record<string, number>> = {
  "": 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** A Kubernetes quantity as a number, rounded to 12 digits so that `0.1` and `100m` are the same; undefined for none. */
export function parseQuantity(text: unknown): number | undefined {
  const [, digits, suffix, exponent] =
    /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,3}))?$/.exec(String(text)) ?? [];
  if (digits === undefined) return undefined;
  const scale = exponent === undefined ? SUFFIXES[suffix ?? ""]! : 10 ** Number(exponent);
  return Number((Number(digits) * scale).toPrecision(12));
}
