import type { Dispatcher } from "undici";
import { boundedText } from "./bounded-text.ts";

/** An answer of a registry that refuses, by the error codes of the OCI distribution specification. */
export class RegistryError extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** `MANIFEST_UNKNOWN`, `BLOB_UNKNOWN`, `DENIED`, `TOOMANYREQUESTS`; empty when the registry gave none. */
  readonly code: string;

  constructor(status: number, code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "RegistryError";
    this.status = status;
    this.code = code;
  }
}

export function isRegistryError(error: unknown, ...statuses: number[]): error is RegistryError {
  return error instanceof RegistryError && (statuses.length === 0 || statuses.includes(error.status));
}

const CODE = /^[A-Za-z_]{1,64}$/;
const MESSAGE_MAX = 500;
const CONTROL = /\p{Cc}/gu;
const REFUSAL_MAX_BYTES = 64 * 1024;

/** What an answer of 400 and above, or one that was not awaited, says; it is read so far as it can count. */
export async function refusalOf({ statusCode, body }: Dispatcher.ResponseData, what: string): Promise<RegistryError> {
  return registryError(statusCode, (await boundedText(body, REFUSAL_MAX_BYTES)).text, what);
}

/** The same of a text that was read. In one line, of characters that may be shown. */
export function registryError(status: number, body: string, what: string): RegistryError {
  const { code = "", message = "" } = firstError(body);
  const said = [code, message].filter(Boolean).join(": ");
  return new RegistryError(status, code, `${what}: the registry answered ${status}${said ? ` (${said})` : ""}`);
}

function firstError(body: string): { code?: string; message?: string } {
  try {
    const { errors } = JSON.parse(body) as { errors?: { code?: unknown; message?: unknown }[] };
    const { code = "", message = "" } = errors?.[0] ?? {};
    return {
      code: typeof code === "string" && CODE.test(code) ? code : "",
      message: typeof message === "string" ? message.slice(0, MESSAGE_MAX).replaceAll(CONTROL, " ") : "",
    };
  } catch {
    return {};
  }
}
