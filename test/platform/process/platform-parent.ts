// Runs two replicas and a job in a process of its own, tells their pids, and waits to be killed.
import { join } from "node:path";
import { systemClock } from "../../../src/controller/clock.ts";
import { processPlatform } from "../../../src/platform/process/index.ts";
import { openProcessSupervisor } from "../../../src/processes/index.ts";
import { answerOf, jobOf, logText, specOf, untilCurrent } from "../../contract/platform.ts";
import { eventually } from "../../support/eventually.ts";
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
const job = jobOf(imageRef);
await platform.runJob({ spec: job, runID: 1, eventJSON: undefined });
await untilCurrent(platform, specOf(imageRef).workload);
await answerOf(platform, specOf(imageRef).workload);
const jobLog = () => logText(platform, job.workload);
await eventually("the job runs", jobLog, (text) => text.includes("job runs"));
process.stdout.write("serving\n");
