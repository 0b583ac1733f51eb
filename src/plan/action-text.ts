import { ANNOTATIONS, refOf, refText } from "../apis/index.ts";
import { type Action, type FieldChange, refOfAction } from "./action.ts";

const VALUE_MAX = 60;
const CHANGES_SHOWN = 8;
const FILES_SHOWN = 3;
const PLAIN_TEXT = /^[\w./:@+-]{1,60}$/;

/** Control characters and those that turn the direction of writing: shown as `\u…`, so that no name acts on a terminal. */
const ACTING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Text of outside, safe to show on one line. */
export function visible(text: string): string {
  return text.replaceAll(ACTING, (character) => `\\u${character.codePointAt(0)!.toString(16).padStart(4, "0")}`);
}

/**
 * One line for a status or a log: `update Function/default/hello (memoryMB 128 → 256)`,
 * `hold Trigger/default/old (more deletions than allowed without an approval)`.
 */
export function toLine(action: Action): string {
  const detail = detailOf(action);
  return `${action.kind} ${refText(refOfAction(action))}${detail && ` (${detail})`}`;
}

/** What an action is about, beside its kind and object; empty for plain creations and deletions. */
export function detailOf(action: Action): string {
  switch (action.kind) {
    case "update":
    case "adopt":
      return differenceText(action);
    case "hold":
      return HOLD_REASONS[action.because];
    case "leave":
      return LEAVE_REASONS[action.because];
    case "refuse":
      return refusalText(action);
    case "wait":
      return `until ${refText(refOf(action.live))} is deleted`;
    case "delete":
      return action.allowedBy === "approval" ? "approved" : "";
    case "create":
    case "unchanged":
      return "";
    default:
      throw new Error(`unknown action ${JSON.stringify(action satisfies never)}`);
  }
}

const HOLD_REASONS = {
  guard: "more deletions than allowed without an approval",
  diagnostics: "nothing is deleted while a manifest is faulty",
} as const;

const LEAVE_REASONS = {
  "prune off": "gone from the repository, which does not prune",
  "prune disabled": `gone from the repository, but ${ANNOTATIONS.prune} is disabled`,
  "reconcile disabled": `${ANNOTATIONS.reconcile} is disabled`,
  blocked: "its manifest or source is faulty",
} as const;

function refusalText(action: Extract<Action, { kind: "refuse" }>): string {
  const name = refText(refOf(action.live));
  switch (action.because) {
    case "owned elsewhere":
      return "it belongs to another repository";
    case "name taken":
      return `${name} has that name`;
    case "not adopted":
      return `it exists, nobody owns it, and it differs: ${changesText(action.changes)}`;
    default:
      throw new Error(`unknown reason ${action.because satisfies never}`);
  }
}

function differenceText(action: Extract<Action, { kind: "update" | "adopt" }>): string {
  const fields = action.changes.filter(({ path }) => path !== "source");
  const source = action.classes.filter((name) => name !== "configuration").join(" and ");
  const parts = [
    ...(source ? [source + filesText(action.files ?? [])] : []),
    ...(fields.length > 0 ? [changesText(fields)] : []),
  ];
  if (parts.length > 0) return parts.join(", ");
  return action.kind === "adopt" ? "nobody owned it" : "fields that the manifest no longer names";
}

function filesText(files: readonly string[]): string {
  if (files.length === 0) return "";
  const rest = files.length - FILES_SHOWN;
  return `: ${files.slice(0, FILES_SHOWN).map(visible).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/** `memoryMB 128 → 256, env.GREETING unset → Hello`. */
export function changesText(changes: readonly FieldChange[]): string {
  const shown = changes.slice(0, CHANGES_SHOWN).map(changeText);
  const rest = changes.length - shown.length;
  return shown.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

function changeText({ path, before, after }: FieldChange): string {
  if (path === "source") return "source";
  if (path === "path") return `moved from ${before === undefined ? "nowhere" : visible(String(before))}`;
  return `${visible(path.replace(/^(spec|metadata)\./, ""))} ${valueText(before)} → ${valueText(after)}`;
}

function valueText(value: unknown): string {
  if (value === undefined) return "unset";
  if (typeof value === "string" && PLAIN_TEXT.test(value)) return value;
  const text = visible(JSON.stringify(value));
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX - 1)}…` : text;
}
