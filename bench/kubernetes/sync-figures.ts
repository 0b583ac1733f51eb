import { type Amount, atMost, type Figure } from "../figure.ts";
import { median } from "../statistics.ts";
import type { SyncRound } from "./measure-sync.ts";
import type { Done } from "./orders.ts";

export interface Round extends SyncRound {
  /** The bare loop, milliseconds. */
  readonly loopMs: number;
}

const RATIO_MAX = 1.3;
const CHANGE_MAX_MS = 300;
const MEMORY_MAX_MB = 300;
const HANDFUL = 5;
/** The Repository's status tells the new revision; nothing else is written. */
const UNCHANGED_REQUESTS = 1;

/** The figures of some rounds: medians of times, the most of what was counted. */
export function syncFigures(rounds: readonly Round[], count: number): Figure[] {
  const changeMs: Amount = { value: median(rounds.map(({ changed }) => changed.deployedMs)), unit: "ms" };
  return [
    appliesFigure(rounds, count),
    {
      name: `first sync of ${count} functions, from nothing to its end`,
      amount: { value: median(rounds.map(({ first }) => first.syncedMs)) / 1_000, unit: "s" },
      note: `requests: ${countsText(rounds[0]!.first)}`,
    },
    {
      name: "one change, from the hint to the patched Deployment",
      amount: changeMs,
      target: atMost(CHANGE_MAX_MS, changeMs),
      note: `requests: ${countsText(rounds[0]!.changed)}`,
    },
    {
      name: `first sync of ${count} functions, to the last Deployment`,
      amount: { value: median(rounds.map(({ first }) => first.deployedMs)) / 1_000, unit: "s" },
    },
    requestsFigure("requests of one change", rounds, ({ changed }) => changed, HANDFUL),
    requestsFigure(
      "requests of a revision that changes nothing",
      rounds,
      ({ unchanged }) => unchanged,
      UNCHANGED_REQUESTS,
    ),
    requestsFigure("requests of a sync without a new revision", rounds, ({ idle }) => idle, 0),
    ...memoryFigures(rounds),
  ];
}

function appliesFigure(rounds: readonly Round[], count: number): Figure {
  const ratio = median(rounds.map(({ first, loopMs }) => first.applyingMs / loopMs));
  return {
    name: `${count} spec applies, statuses and Deployments beside them`,
    amount: { value: median(rounds.map(({ first }) => first.applyingMs)) / 1_000, unit: "s" },
    baseline: { value: median(rounds.map(({ loopMs }) => loopMs)) / 1_000, unit: "s", of: "bare loop" },
    ratio,
    target: { text: `ratio ≤ ${RATIO_MAX}`, met: ratio <= RATIO_MAX },
  };
}

function requestsFigure(name: string, rounds: readonly Round[], of: (round: Round) => Done, limit: number): Figure {
  const amount: Amount = { value: Math.max(...rounds.map((round) => total(of(round)))), unit: "count" };
  return { name, amount, target: atMost(limit, amount) };
}

function memoryFigures(rounds: readonly Round[]): Figure[] {
  const measured = rounds.flatMap(({ residentMB }) => residentMB ?? []);
  if (measured.length === 0) return [];
  const amount: Amount = { value: Math.max(...measured), unit: "MB" };
  return [{ name: "resident memory of the controller", amount, target: atMost(MEMORY_MAX_MB, amount) }];
}

function total({ counts }: Done): number {
  return Object.values(counts).reduce((sum, value) => sum + value, 0);
}

function countsText({ counts }: Done): string {
  return Object.entries(counts)
    .map(([kind, value]) => `${value} ${kind}`)
    .join(", ");
}
