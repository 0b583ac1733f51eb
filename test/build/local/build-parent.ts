// Builds one request in a process of its own, says when it installs, and waits to be killed.
import { join } from "node:path";
import { localBuilder } from "../../../src/build/local/index.ts";
import { systemClock } from "../../../src/controller/clock.ts";
import { openProcessSupervisor } from "../../../src/processes/index.ts";
import { openFilesystemStore } from "../../../src/storage/filesystem/index.ts";
import { requestOf } from "../../contract/builder.ts";
import { shellRuntime } from "../../support/shell-runtime.ts";

const folder = process.argv[2]!;
const files = JSON.parse(process.argv[3]!) as Record<string, string>;
const objects = await openFilesystemStore(join(folder, "objects"));
const builder = localBuilder({
  objects,
  folder: join(folder, "builds"),
  path: "/usr/bin:/bin",
  excluded: [],
  processes: await openProcessSupervisor({ folder: join(folder, "processes") }),
  clock: systemClock,
  passThrough: { INSTALL_COUNT: join(folder, "install-count") },
});
const request = await requestOf({ objects, runtime: shellRuntime() }, files);
builder.onChange(() => void builder.ensure(request));
await builder.ensure(request);
const log = builder.logs(request.workload, { follow: true, signal: new AbortController().signal });
for await (const chunk of log) process.stdout.write(chunk);
setInterval(() => {}, 60_000);
