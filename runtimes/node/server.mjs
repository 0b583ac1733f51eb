/** Entry of sless's Node runtime; docs/runtimes.md has its contract with whoever starts it. */
import { runJob } from "./job.mjs";
import { loadHandler } from "./load-handler.mjs";
import { serve } from "./serve.mjs";
import { readSettings } from "./settings.mjs";
import { startWatch } from "./watch.mjs";

const settings = readSettings(process.env);
const watch = startWatch(settings.parentFd);
const handler = await loadHandler(settings);
if (settings.job) await runJob(settings, handler, watch);
else serve(settings, handler, watch);
