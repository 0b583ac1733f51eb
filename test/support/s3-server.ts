import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildServer } from "../servers/build.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-ports.ts";
import { openServerProcesses } from "./kubernetes/server-processes.ts";
import { removeFolder } from "./remove-folder.ts";

export interface S3Server {
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** An empty bucket of a name of its own. */
  makeBucket(): Promise<string>;
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** A real S3 server (versitygw) on loopback, over a folder of its own. */
export async function openS3Server(): Promise<S3Server> {
  const program = await buildServer("versitygw");
  const folder = await mkdtemp(join(tmpdir(), "sless-s3-"));
  const data = join(folder, "data");
  await mkdir(data);
  const port = await freePort();
  const credentials = { accessKeyId: "test", secretAccessKey: randomBytes(16).toString("hex") };
  const processes = await openServerProcesses(folder);
  const server = processes.server("versitygw", program, [
    ...["--access", credentials.accessKeyId, "--secret", credentials.secretAccessKey],
    ...["--port", `127.0.0.1:${port}`, "--quiet", "posix", data],
  ]);
  const endpoint = `http://127.0.0.1:${port}`;
  const start = async () => {
    server.start();
    const answers = async () => {
      await processes.check();
      return fetch(endpoint).then(
        () => true,
        () => false,
      );
    };
    await eventually("the S3 server answers", answers, (isThere) => isThere);
  };
  await start();
  return {
    endpoint,
    credentials,
    async makeBucket() {
      const bucket = `b-${randomBytes(6).toString("hex")}`;
      await mkdir(join(data, bucket));
      return bucket;
    },
    start,
    stop: () => server.stop("SIGKILL"),
    async close() {
      await processes.close();
      await removeFolder(folder);
    },
  };
}
