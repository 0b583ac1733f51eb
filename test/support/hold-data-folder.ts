/** A process that takes a data folder, says so, and holds it until it is killed. */
import { openDataFolder } from "../../src/app/data-folder.ts";

await openDataFolder(process.argv[2] ?? "");
process.stdout.write("held\n");
setInterval(() => {}, 60_000);
