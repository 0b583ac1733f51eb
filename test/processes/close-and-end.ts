// Starts and closes a supervisor, and has nothing else to do: what stands after the close must be reached.
import { openProcessSupervisor } from "../../src/processes/index.ts";

const supervisor = await openProcessSupervisor({ folder: process.argv[2]! });
supervisor.spawn(["sleep", "300"], { cwd: "/", env: { PATH: "/usr/bin:/bin" } });
await supervisor.close();
process.stdout.write("closed\n");
