import { deployNamespaceOf } from "../../apis/index.ts";
import type { TimerClock } from "../../controller/clock.ts";
import { messageOf } from "../../errors/index.ts";
import {
  API_RESOURCES,
  type ApiObject,
  isApiError,
  type KubernetesClient,
  watchResource,
} from "../../kubernetes/index.ts";
import type { ChildWriter } from "./child-writer.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { LiveChild } from "./live-objects.ts";
import { REGISTRY_SECRET } from "./names.ts";
import { dockerConfigOf, registrySecretOf } from "./secrets.ts";
import type { PlatformSettings } from "./settings.ts";

/** Copies of the registry's credentials in the deploy namespaces, kept as the original is. */
export interface RegistryCopies {
  /** Name of the Secret that pods pull with; undefined when the registry asks for none. */
  readonly name: string | undefined;
  /** Brings the copy up to date; the namespace's is kept so from now on. @throws ApiError, SlessError `cluster_unavailable` */
  ensure(namespace: string): Promise<void>;
  /** Resolves when the original is known, or known to be missing. */
  start(signal: AbortSignal): Promise<void>;
}

interface RegistryOptions {
  readonly client: KubernetesClient;
  readonly clock: TimerClock;
  readonly log: { warn(fields: object, message: string): void };
  readonly settings: PlatformSettings;
  readonly view: Pick<ClusterView, "secrets">;
  readonly writer: ChildWriter;
}

type Original = ApiObject & { data?: Record<string, string> };

const RETRY_MS = 5_000;

export function registryCopies(options: RegistryOptions): RegistryCopies {
  const { client, clock, log, settings, view, writer } = options;
  const { registry } = settings;
  if (!registry) return { name: undefined, ensure: async () => undefined, start: async () => undefined };

  const originals = watchResource<Original>(client, API_RESOURCES.Secret, {
    clock,
    log,
    namespace: registry.secret.namespace,
    fieldSelector: `metadata.name=${registry.secret.name}`,
  });
  const kept = new Set<string>();

  async function write(namespace: string): Promise<void> {
    const original = originals.get(registry!.secret.namespace, registry!.secret.name);
    const deployNamespace = deployNamespaceOf(namespace);
    const wanted = registrySecretOf(deployNamespace, registry!.host, original && dockerConfigOf(original));
    const live = view.secrets.get(deployNamespace, REGISTRY_SECRET);
    if (!wanted || !writer.differs(wanted, live)) return;
    view.secrets.observe((await writer.apply(wanted, live)) as LiveChild);
  }
  function rewrite(namespace: string): void {
    write(namespace).catch((error: unknown) => {
      // The namespace is gone: whatever is run there next makes it anew.
      if (isApiError(error, 404) || isApiError(error, 403)) return void kept.delete(namespace);
      log.warn({ namespace, err: messageOf(error) }, "registry credentials not copied");
      clock.setTimer(RETRY_MS, () => rewrite(namespace));
    });
  }
  originals.onChange(() => {
    for (const namespace of kept) rewrite(namespace);
  });
  view.secrets.onChange(({ metadata }) => {
    if (metadata.name !== REGISTRY_SECRET) return;
    for (const namespace of kept) if (deployNamespaceOf(namespace) === metadata.namespace) rewrite(namespace);
  });
  return {
    name: REGISTRY_SECRET,
    async ensure(namespace) {
      kept.add(namespace);
      await write(namespace);
    },
    async start(signal) {
      await originals.start(signal);
      const isUsable = registrySecretOf(
        "",
        registry.host,
        dockerConfigOf(originals.get(registry.secret.namespace, registry.secret.name) ?? {}),
      );
      if (!isUsable)
        log.warn(
          { ...registry.secret, host: registry.host },
          "the registry's secret is not there, or says nothing of the registry",
        );
    },
  };
}
