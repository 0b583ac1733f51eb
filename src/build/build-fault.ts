import { type ErrorCode, type ErrorDetails, isSlessError, messageOf, SlessError } from "../errors/index.ts";

const REASONS: Partial<Record<ErrorCode, string>> = {
  toolchain_missing: "ToolchainMissing",
  source_missing: "SourceMissing",
  source_unavailable: "SourceUnavailable",
  archive_invalid: "SourceInvalid",
  too_large: "SourceInvalid",
  dependencies_failed: "DependenciesFailed",
  build_failed: "BuildFailed",
  build_timeout: "BuildTimedOut",
  storage_unavailable: "StorageUnavailable",
  builder_missing: "BuilderMissing",
  builder_failed: "BuilderFailed",
  base_image_missing: "BaseImageMissing",
  registry_unavailable: "RegistryUnavailable",
  registry_denied: "RegistryDenied",
};

/** Why a build failed. It may be told to several workloads, each of which gets its own name in the message. */
export class BuildFault extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  /** What happened, without what to do about it: for the log of a build, which has no workload's name to tell. */
  readonly happened: string;
  readonly tail: string;
  /** CamelCase for a condition. */
  readonly reason: string;

  constructor(
    code: ErrorCode,
    details: ErrorDetails,
    options: { tail?: string; reason?: string | undefined; cause?: unknown } = {},
  ) {
    const { message, happened } = new SlessError(code, details);
    super(message, { cause: options.cause });
    this.name = "BuildFault";
    this.happened = happened;
    this.code = code;
    this.details = details;
    this.tail = options.tail ?? "";
    this.reason = options.reason ?? REASONS[code] ?? "InternalError";
  }

  messageFor(name: string): string {
    const { message } = new SlessError(this.code, { ...this.details, name });
    return this.tail === "" ? message : `${message}\n${this.tail}`;
  }
}

export function toBuildFault(error: unknown): BuildFault {
  if (error instanceof BuildFault) return error;
  if (isSlessError(error)) return new BuildFault(error.code, error.details, { cause: error });
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT" || code === "EROFS" || code === "EACCES") {
    return new BuildFault(
      "storage_unavailable",
      { what: "The build folder", cause: messageOf(error) },
      { cause: error },
    );
  }
  return new BuildFault("internal", { cause: messageOf(error) }, { cause: error });
}
