// Runs two replicas and a job in a process of its own, tells their pids, and waits to be killed.
import { join } from "node:path";
import { systemClock } from "../../../src/controller/clock.ts";
import { processPlatform } from "../../../src/platform/process/index.ts";
import { openProcessSupervisor } from "../../../src/processes/index.ts";
import { answerOf, jobOf, specOf, untilCurrent } from "../../contract/platform.ts";
import { fakeImages } from "../../support/fake-images.ts";

const folder = process.argv[2]!;
const images = fakeImages(join(folder, "images"));
const platform = processPlatform({
  folder: join(folder, "platform"),
  processes: await openProcessSupervisor({ folder: join(folder, "processes") }),
  resolveImage: images.resolveImage,
  secrets: async () => undefined,
  clock: systemClock,
  baseEnv: { PATH: "/usr/bin:/bin" },
});
const imageRef = await images.make({ ignoreTerm: true, jobMs: 300_000 });
await platform.apply(specOf(imageRef), 2);
await platform.runJob({ spec: jobOf(imageRef), runID: 1, eventJSON: undefined });
await untilCurrent(platform, specOf(imageRef).workload);
await answerOf(platform, specOf(imageRef).workload);
process.stdout.write("serving\n");
