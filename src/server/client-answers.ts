import type { Dispatcher } from "undici";
import { messageOf, SlessError } from "../errors/index.ts";
import { isSilence } from "./patience.ts";

/** What a server sent back to a client, and which server that was. */
export interface Answer extends Pick<Dispatcher.ResponseData, "statusCode" | "headers" | "body"> {
  readonly endpoint: string;
}

/** An error that the server told: `code`, `status` and `details` as in its JSON body. */
export class ServerError extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: readonly unknown[];

  constructor(status: number, body: { error: string; code: string; details?: readonly unknown[] | undefined }) {
    super(body.error);
    this.name = "ServerError";
    this.status = status;
    this.code = body.code;
    this.details = body.details ?? [];
  }
}

type Fields = Readonly<Record<string, unknown>>;
/** Tells an answer of sless from JSON of another server by what every such answer has. */
export type Shape = (fields: Fields) => boolean;

/** A list under each of these names. */
export const withLists =
  (...names: readonly string[]): Shape =>
  (fields) =>
    names.every((name) => Array.isArray(fields[name]));
/** A text under this name. */
export const withText =
  (name: string): Shape =>
  (fields) =>
    typeof fields[name] === "string";
/** An object as the store has it. */
export const isWholeObject: Shape = ({ kind, metadata }) => typeof kind === "string" && isFields(metadata);

/**
 * The JSON of an answer.
 *
 * @throws ServerError for an error of sless; SlessError `server_foreign` for what is not of this shape,
 *   `answer_cut` for half of it
 */
export async function jsonOf<T>(answer: Answer, shape: Shape): Promise<T> {
  const text = await textOf(answer);
  const told = parsed(text);
  if (answer.statusCode >= 400) throw errorOf(answer, text, told);
  if (answer.statusCode >= 300 || told === undefined || !shape(told)) throw foreign(answer, text);
  return told as T;
}

/** Takes an answer that says all by one of these statuses. @throws as `jsonOf` */
export async function doneOf(answer: Answer, statuses: readonly number[]): Promise<void> {
  const text = await textOf(answer);
  if (answer.statusCode >= 400) throw errorOf(answer, text, parsed(text));
  if (!statuses.includes(answer.statusCode)) throw foreign(answer, text);
}

/** Lets through an answer whose body is no JSON of sless and that `isOurs`. @throws as `jsonOf` */
export async function checked(answer: Answer, isOurs: boolean): Promise<void> {
  if (isOurs) return;
  const text = await textOf(answer);
  throw answer.statusCode >= 400 ? errorOf(answer, text, parsed(text)) : foreign(answer, text);
}

/** The body as it comes. @throws SlessError `answer_cut` when it breaks off; as it is when `signal` ended it */
export async function* bodyOf({ body, endpoint }: Answer, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* body as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw cut(endpoint, error);
  }
}

async function textOf({ body, endpoint }: Answer): Promise<string> {
  try {
    return await body.text();
  } catch (error) {
    throw cut(endpoint, error);
  }
}

function cut(endpoint: string, error: unknown): SlessError {
  const cause = isSilence(error) ? "no more of it came" : messageOf(error);
  return new SlessError("answer_cut", { endpoint, cause }, { cause: error });
}

function errorOf(answer: Answer, text: string, told: Fields | undefined): Error {
  if (typeof told?.error !== "string" || typeof told.code !== "string") return foreign(answer, text);
  const details = Array.isArray(told.details) ? told.details : undefined;
  return new ServerError(answer.statusCode, { error: told.error, code: told.code, details });
}

const SHOWN_MAX = 200;

function foreign({ statusCode, headers, endpoint }: Answer, text: string): SlessError {
  const { location } = headers;
  const to = typeof location === "string" ? ` and leads to ${location}` : "";
  const said = text.replaceAll(/\s+/g, " ").trim();
  const shown = said.length > SHOWN_MAX ? `${said.slice(0, SHOWN_MAX)}…` : said;
  const cause = `it answered ${statusCode}${to}${shown ? `: ${shown}` : ""}`;
  return new SlessError("server_foreign", { endpoint, cause });
}

function parsed(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
