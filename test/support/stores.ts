import { systemClock } from "../../src/controller/clock.ts";
import { type RegistryClient, registryClient } from "../../src/registry/index.ts";
import { pushBaseImage } from "./base-image.ts";
import { openRegistryServer, type RegistryServer, type RegistryServerOptions } from "./registry-server.ts";
import { openS3Server, type S3Server } from "./s3-server.ts";

/** What the runtimes stand on, small. */
const BASES = {
  "library/python": "3.11-slim",
  "library/node": "20-slim",
  "library/golang": "1.26",
  "library/debian": "stable-slim",
} as const;

export interface TestStores {
  readonly s3: S3Server;
  readonly registry: RegistryServer;
  readonly client: RegistryClient;
  /** Variables for a bucket of its own and this registry. */
  variables(): Promise<Record<string, string>>;
  close(): Promise<void>;
}

/** A real S3 server and a real registry, which has the base images too and answers for docker.io. */
export async function openTestStores({ user }: RegistryServerOptions = {}): Promise<TestStores> {
  const [s3, registry] = await Promise.all([openS3Server(), openRegistryServer(user ? { user } : {})]);
  const { host } = registry;
  const client = registryClient({ host, plainHttp: true, clock: systemClock, ...(user ? { credentials: user } : {}) });
  for (const [repository, tag] of Object.entries(BASES))
    await pushBaseImage(client, repository, tag, { content: repository });
  return {
    s3,
    registry,
    client,
    async variables() {
      const bucket = await s3.makeBucket();
      return { ...bucketVariables(s3, bucket), REGISTRY_HOST: host, REGISTRY_MIRROR: host };
    },
    async close() {
      await client.close();
      await Promise.all([s3.close(), registry.close()]);
    },
  };
}

export function bucketVariables({ endpoint, credentials }: S3Server, bucket: string): Record<string, string> {
  return {
    S3_ENDPOINT: endpoint,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY: credentials.accessKeyId,
    S3_SECRET_KEY: credentials.secretAccessKey,
  };
}
