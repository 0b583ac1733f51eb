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

/** What an answer of 400 and above says, in one line. */
export function registryError(status: number, body: string, what: string): RegistryError {
  const { code = "", message = "" } = firstError(body);
  const said = [code, message].filter(Boolean).join(": ");
  return new RegistryError(status, code, `${what}: the registry answered ${status}${said ? ` (${said})` : ""}`);
}

function firstError(body: string): { code?: string; message?: string } {
  try {
    const { errors } = JSON.parse(body) as { errors?: { code?: string; message?: string }[] };
    return { code: String(errors?.[0]?.code ?? ""), message: String(errors?.[0]?.message ?? "").slice(0, 500) };
  } catch {
    return {};
  }
}
