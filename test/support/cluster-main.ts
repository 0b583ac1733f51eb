// sless on a cluster in a process of its own: `node cluster-main.ts <role>…`, with settings of the environment and
// those of tests (see `cluster-process.ts`).
import { startCluster } from "../../src/app/cluster/index.ts";
import { endProcess, type Role } from "../../src/cli/index.ts";
import { readClusterSettings } from "../../src/config/index.ts";
import { systemClock } from "../../src/controller/index.ts";
import type { TestProcessSettings } from "./cluster-process.ts";
import { folderBuilder } from "./folder-builder.ts";

const { TEST_SETTINGS = "{}", ...env } = process.env;
const { images, buildMs, clockMs, leaseTimes } = JSON.parse(TEST_SETTINGS) as TestProcessSettings;

const app = await startCluster({
  roles: process.argv.slice(2) as Role[],
  settings: readClusterSettings(env),
  openBuilder: () => folderBuilder({ folder: images, buildMs }),
  clock: { ...systemClock, now: () => new Date(Date.now() + clockMs) },
  leaseTimes,
});
process.stdout.write(`started ${app.url}\n`);
process.on("SIGTERM", () => void app.close().then(() => endProcess(0)));
