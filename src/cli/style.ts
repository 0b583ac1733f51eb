import { styleText } from "node:util";
import type { Output } from "./io.ts";

type Paint = (text: string) => string;

/** Colours by meaning; on anything but a terminal, and with NO_COLOR, text stays as it is. */
export interface Style {
  readonly good: Paint;
  readonly bad: Paint;
  readonly weak: Paint;
  readonly strong: Paint;
  readonly colored: boolean;
}

export function styleOf(output: Output, color: boolean): Style {
  const colored = color && output.isTTY;
  const paint = (format: Parameters<typeof styleText>[0]): Paint =>
    colored ? (text) => styleText(format, text, { validateStream: false }) : (text) => text;
  return { good: paint("green"), bad: paint("red"), weak: paint("dim"), strong: paint("bold"), colored };
}
