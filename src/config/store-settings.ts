import { SlessError } from "../errors/index.ts";
import type { Environment } from "./build-environment.ts";
import { isTrue, type Read, readS3, type S3Settings, textOf } from "./image-settings.ts";
import { parseRegistryHost, parseRegistryPlace, type RegistryPlace } from "./registry-place.ts";
import { type SettingReader, settingReader } from "./setting-reader.ts";

/** Where the embedded mode keeps sources and images when not in its data folder. Frozen. */
export interface StoreSettings {
  /** Undefined without `S3_BUCKET` (`--s3-bucket`): sources lie in the data folder. */
  readonly s3: S3Settings | undefined;
  /** Undefined without `REGISTRY_HOST` (`--registry`): images are folders in the data folder. */
  readonly registry: LocalRegistrySettings | undefined;
}

/** `REGISTRY_HOST`, and how it is spoken to. */
export interface LocalRegistrySettings extends RegistryPlace {
  /** Whether a host is spoken to without TLS. `REGISTRY_PLAIN_HTTP` for registry and mirror; default: those of this machine. */
  readonly isPlainHttp: (host: string) => boolean;
  /** `REGISTRY_MIRROR`: host that answers for docker.io. */
  readonly mirror: string | undefined;
  /** `REGISTRY_CONFIG`: file of a docker config, perhaps relative. */
  readonly dockerConfig: string | undefined;
}

/** Values from the command line, by the names of their flags; they stand above the environment. */
export type StoreFlags = Partial<Record<StoreFlag, string>>;
type StoreFlag = "s3-endpoint" | "s3-bucket" | "registry" | "registry-mirror" | "registry-config";

const FLAGS: Readonly<Record<string, StoreFlag>> = {
  S3_ENDPOINT: "s3-endpoint",
  S3_BUCKET: "s3-bucket",
  REGISTRY_HOST: "registry",
  REGISTRY_MIRROR: "registry-mirror",
  REGISTRY_CONFIG: "registry-config",
};

/**
 * Reads where `sless dev` keeps sources and images; an empty variable counts as unset.
 *
 * @throws SlessError `settings_invalid` that lists every fault with the name of its flag or variable; values of secrets are not shown
 */
export function readStoreSettings(env: Environment, flags: StoreFlags = {}): StoreSettings {
  const faults: string[] = [];
  const reader: SettingReader<StoreFlag> = settingReader(env, flags, faults);
  const read: Read = (variable, _flag, parse, fallback) => reader(variable, FLAGS[variable], parse, fallback);
  const settings = { s3: readS3(read, faults), registry: readLocalRegistry(read, env) };
  if (faults.length === 0 && !settings.registry) faults.push(...unheardFlags(flags));
  if (faults.length > 0) throw new SlessError("settings_invalid", { cause: faults.join("; ") });
  return Object.freeze(settings);
}

/** Flags that say how to speak to a registry when none is named. */
function unheardFlags(flags: StoreFlags): string[] {
  const unheard = (["registry-mirror", "registry-config"] as const).filter((flag) => flags[flag] !== undefined);
  return unheard.map((flag) => `--${flag} is given and --registry is not: name the registry`);
}

function readLocalRegistry(read: Read, env: Environment): LocalRegistrySettings | undefined {
  const place = read<RegistryPlace | undefined>("REGISTRY_HOST", undefined, parseRegistryPlace, undefined);
  const mirror = read<string | undefined>("REGISTRY_MIRROR", undefined, parseRegistryHost, undefined);
  const plainHttp = isTrue(read, "REGISTRY_PLAIN_HTTP");
  const isPlainHttp = (of: string) => (env.REGISTRY_PLAIN_HTTP ? plainHttp && isOneOf(of) : isLoopback(of));
  const isOneOf = (of: string) => of === place?.host || of === mirror;
  const dockerConfig = textOf(read, "REGISTRY_CONFIG");
  return place && Object.freeze({ ...place, mirror, isPlainHttp, dockerConfig });
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/.test(host);
}
