import { type Logger, pino, stdTimeFunctions } from "pino";
import type { Settings } from "../config/index.ts";

/** The log of a process, on stderr: JSON lines, or short lines for people. */
export function createLogger({ level, format }: Settings["log"]): Logger {
  const options = {
    level,
    base: undefined,
    timestamp: stdTimeFunctions.isoTime,
    redact: ["*.authorization", "*.token"],
  };
  const stderr = { write: (line: string) => void process.stderr.write(format === "json" ? line : textLine(line)) };
  return pino(options, stderr);
}

const LEVELS: Record<number, string> = { 10: "trace", 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "fatal" };

/** `warn  reconcile failed controller=function key=default/hello`. */
function textLine(line: string): string {
  const { level, time: _time, msg, ...fields } = JSON.parse(line) as Record<string, unknown> & { level: number };
  const shown = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return `${[(LEVELS[level] ?? String(level)).padEnd(5), msg, ...shown].join(" ")}\n`;
}
