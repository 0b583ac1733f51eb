/** The cluster that the end-to-end tests run on, and what makes images for it. */
export interface E2eSettings {
  /** File of a kubeconfig whose user may do everything. */
  readonly kubeconfig: string;
  /** Registry that this process and the nodes reach by the same name, `10.244.0.1:5000`. */
  readonly registryHost: string;
  /** Registry in which base images are looked for before their own. */
  readonly registryMirror: string | undefined;
  /** Executor of kaniko's command line. */
  readonly kanikoImage: string;
  /** Address of this machine that pods reach. */
  readonly hostAddress: string;
  /**
   * Network of the pods of a cluster whose one node is this machine and whose network enforces no policies: they are
   * enforced from here then, as root.
   */
  readonly podNetwork: string | undefined;
  readonly s3: {
    readonly endpoint: string;
    readonly bucket: string;
    readonly region: string;
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
    readonly forcePathStyle: boolean;
  };
}

const NEEDED = {
  KUBECONFIG: "the cluster, with an administrator's rights",
  REGISTRY_HOST: "a registry that this machine and the nodes reach by the same name",
  E2E_HOST_ADDRESS: "an address of this machine that pods reach: a Git server listens there",
  S3_ENDPOINT: "an S3 server that pods reach",
  S3_BUCKET: "a bucket there",
  S3_ACCESS_KEY: "its access key",
  S3_SECRET_KEY: "its secret key",
} as const;

/** @throws Error that names every variable that is not set */
export function readE2eSettings(env: NodeJS.ProcessEnv): E2eSettings {
  const missing = Object.entries(NEEDED).filter(([name]) => !env[name]);
  if (missing.length > 0) {
    const lines = missing.map(([name, what]) => `  ${name}: ${what}`);
    throw new Error(`npm run e2e runs on a cluster that is there already; set\n${lines.join("\n")}`);
  }
  const given = (name: keyof typeof NEEDED) => env[name] as string;
  return {
    kubeconfig: given("KUBECONFIG"),
    registryHost: given("REGISTRY_HOST"),
    registryMirror: env.REGISTRY_MIRROR || undefined,
    kanikoImage: env.KANIKO_IMAGE || "ghcr.io/osscontainertools/kaniko:v1.28.3",
    hostAddress: given("E2E_HOST_ADDRESS"),
    podNetwork: env.E2E_POD_NETWORK || undefined,
    s3: {
      endpoint: given("S3_ENDPOINT"),
      bucket: given("S3_BUCKET"),
      region: env.S3_REGION || "us-east-1",
      credentials: { accessKeyId: given("S3_ACCESS_KEY"), secretAccessKey: given("S3_SECRET_KEY") },
      forcePathStyle: env.S3_FORCE_PATH_STYLE === "true",
    },
  };
}
