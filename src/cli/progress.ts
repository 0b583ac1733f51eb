import { stripVTControlCharacters } from "node:util";
import type { Reporter } from "../report/index.ts";
import type { Output } from "./io.ts";
import { type Open, progressChains, type Shown, type Step } from "./progress-chain.ts";
import type { Style } from "./style.ts";
import { durationText, oneLine } from "./table.ts";

/** What goes on after a step. */
const NEXT: Readonly<Record<string, string>> = { planned: "storing", stored: "building", built: "starting" };

/** Chains on their way that a terminal shows below what has ended. */
const LIVE_LINES_MAX = 8;
const UP_AND_CLEAR = (lines: number) => (lines === 0 ? "" : `\u001b[${lines}A\u001b[J`);

export interface Progress {
  readonly report: Reporter;
  /** Writes lines of other origin without spoiling the display. */
  print(lines: readonly string[]): void;
  /** Tells what is still on its way, where nobody sees it standing below. */
  remind(): void;
  /** Forgets what is still on its way: everything has settled. */
  settle(): void;
  /** Takes away what is still on its way. */
  close(): void;
}

/**
 * Shows what happens on the way from a push to a running function: one line per object that changed, when it serves or
 * has failed. On a terminal the objects on their way stand below and move on; elsewhere there are plain lines only.
 */
export function openProgress(out: Output, style: Style, nowMs = () => performance.now()): Progress {
  const chains = progressChains(nowMs);
  let live = 0;

  function draw(lines: readonly string[]): void {
    const open = out.isTTY ? liveLines(chains.open(LIVE_LINES_MAX), style, out.columns ?? 80) : [];
    out.write([UP_AND_CLEAR(live), ...[...lines, ...open].map((line) => `${line}\n`)].join(""));
    live = open.length;
  }

  return {
    report(event) {
      const shown = chains.take(event).flatMap((item) => shownLines(item, style));
      if (shown.length > 0 || out.isTTY) draw(shown);
    },
    print: (lines) => draw(lines),
    remind() {
      if (out.isTTY) return;
      const { first, more } = chains.open(LIVE_LINES_MAX);
      const waiting = first.map(({ title, steps }) => `${title} (${nextOf(steps)})`).join(", ");
      if (waiting) draw([style.weak(`Waiting for ${waiting}${more > 0 ? ` and ${more} more` : ""}`)]);
    },
    settle() {
      chains.clear();
      draw([]);
    },
    close() {
      if (live > 0) out.write(UP_AND_CLEAR(live));
      live = 0;
    },
  };
}

function shownLines(shown: Shown, style: Style): string[] {
  if (shown.kind === "note") return [style.weak(oneLine(shown.text))];
  const chain = chainText(shown.title, shown.steps, style);
  if (shown.end.kind === "good")
    return [shown.end.detail ? `${chain}  ${style.weak(oneLine(shown.end.detail))}` : chain];
  const failed = `${style.bad("✗")} ${style.bad(oneLine(shown.end.reason))}`;
  const reason = shown.end.message
    .trimEnd()
    .split("\n")
    .map((line) => `    ${plain(line)}`);
  return [shown.steps.length > 0 ? `${chain} ${failed}` : `${chain}${failed}`, ...reason];
}

function nextOf(steps: readonly Step[]): string {
  return NEXT[steps.at(-1)?.name ?? ""] ?? "going on";
}

/** `hello  fetched 3ms → planned 5ms → stored 2ms` */
function chainText(title: string, steps: readonly Step[], style: Style): string {
  const parts = steps.map(({ name, durationMs }) => `${name} ${style.weak(durationText(durationMs))}`);
  return `${style.strong(title)}  ${parts.join(" → ")}`;
}

function liveLines({ first, more }: Open, style: Style, columns: number): string[] {
  const lines = first.map(({ title, steps }) => `${chainText(title, steps, style)} → ${nextOf(steps)} …`);
  if (more > 0) lines.push(style.weak(`… and ${more} more on their way`));
  // A line that wraps would be two, and the next one would be drawn in the wrong place.
  return lines.filter((line) => stripVTControlCharacters(line).length < columns);
}

/** A line of foreign output, kept as it is but for what moves a terminal's cursor. */
function plain(line: string): string {
  return oneLine(stripVTControlCharacters(line).replaceAll("\t", "  "));
}
