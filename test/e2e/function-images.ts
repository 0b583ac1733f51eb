import { join } from "node:path";
import { imageName } from "../../src/apis/index.ts";
import { appendImage, makeLayer } from "../../src/build/layer/index.ts";
import { expandCommand, loadRuntimes, type Runtime } from "../../src/runtimes/index.ts";
import { type BuiltImage, buildImage, filesBelow } from "./build-image.ts";
import type { E2eCluster } from "./open-cluster.ts";

const RUNTIMES = await loadRuntimes(join(import.meta.dirname, "../../runtimes"));
const PLACES = { runtime: "/sless/runtime", out: "/sless/image", source: "/sless/image/source", deps: "/sless/deps" };
const USER = "65532:65532";

/** A version of a function: what is pushed for it, and under which name the controller looks for it. */
export interface FunctionVersion {
  readonly namespace: string;
  readonly name: string;
  readonly runtime: string;
  readonly sourceDigest: string;
  /** File of the handler and its text. */
  readonly handler: readonly [name: string, text: string];
}

/** The image of a runtime, by its own Dockerfile. */
export function buildRuntimeImage(cluster: E2eCluster, namespace: string, name: string): Promise<BuiltImage> {
  const runtime = runtimeNamed(name);
  return filesBelow(runtime.folder).then((context) =>
    buildImage(cluster, namespace, {
      name: `sless-runtime-${name}`,
      context,
      args: { BASE_IMAGE: runtime.baseImage },
    }),
  );
}

/** Makes the image of a version and pushes it to where `registryBuilder` finds it. */
export async function pushFunctionImage(
  cluster: E2eCluster,
  namespace: string,
  version: FunctionVersion,
  base: BuiltImage,
): Promise<void> {
  const runtime = runtimeNamed(version.runtime);
  const repository = imageName({ kind: "Function", namespace: version.namespace, name: version.name });
  if (runtime.build) await compile(cluster, namespace, version, base, repository);
  else await append(cluster, version, runtime, base, repository);
}

async function append(
  { registry, settings }: E2eCluster,
  { handler: [file, text], sourceDigest }: FunctionVersion,
  runtime: Runtime,
  { repository, digest }: BuiltImage,
  target: string,
): Promise<void> {
  const interpreter = runtime.language === "python" ? "python3" : "node";
  await appendImage({
    base: { client: registry, host: settings.registryHost, repository, digest },
    layers: [await makeLayer([{ path: `sless/image/source/${file}`, content: Buffer.from(text) }])],
    settings: {
      entrypoint: expandCommand(runtime.start.command, { ...PLACES, interpreter }),
      workingDir: PLACES.source,
      user: USER,
      env: {},
      labels: {},
    },
    target: { client: registry, repository: target, tags: [sourceDigest] },
  });
}

/** Compiles in a Job, as docs of the runtime's Dockerfile say. */
async function compile(
  cluster: E2eCluster,
  namespace: string,
  { handler: [file, text], sourceDigest }: FunctionVersion,
  base: BuiltImage,
  target: string,
): Promise<void> {
  const dockerfile = `FROM ${base.reference} AS build
COPY src/ ${PLACES.source}/
RUN go run -C ${PLACES.runtime}/build . go ${PLACES.runtime} ${PLACES.source} ${PLACES.out} handler.handle 1.26
FROM scratch
COPY --from=build ${PLACES.out}/function ${PLACES.out}/function
USER ${USER}
CMD ["${PLACES.out}/function"]
`;
  const built = await buildImage(cluster, namespace, {
    name: target,
    context: [
      { path: "Dockerfile", content: Buffer.from(dockerfile) },
      { path: `src/${file}`, content: Buffer.from(text) },
    ],
  });
  const stored = await cluster.registry.manifest(target, built.digest);
  await cluster.registry.putManifest(target, sourceDigest, stored!);
}

function runtimeNamed(name: string): Runtime {
  const runtime = RUNTIMES.get(name);
  if (!runtime) throw new Error(`no runtime ${name}`);
  return runtime;
}
