import { readFile } from "node:fs/promises";
import { fetchContext, pushLayout } from "../build/kaniko/index.ts";
import type { BuildSteps } from "../cli/index.ts";
import { systemClock } from "../controller/clock.ts";
import { SlessError } from "../errors/index.ts";
import { credentialsIn, parseImageReference, registryClient } from "../registry/index.ts";

/** A build has run for minutes: what it made is offered to a registry that restarts for about a minute. */
const TRIES = 9;

/** What the containers of build Jobs do. */
export const buildSteps: BuildSteps = {
  async pushImage({ layout, destination, plainHttp, dockerConfig, mountFrom }) {
    const { host, repository, tag } = parseImageReference(destination);
    if (tag === undefined) throw new SlessError("invalid_request", { cause: `${destination} names no tag` });
    const config = dockerConfig === undefined ? undefined : await readFile(dockerConfig, "utf8");
    const credentials = config === undefined ? undefined : credentialsIn(config, host);
    const registry = registryClient({
      host,
      plainHttp,
      clock: systemClock,
      tries: TRIES,
      ...(credentials ? { credentials } : {}),
    });
    try {
      return await pushLayout({ layout, registry, repository, tag, mountFrom });
    } finally {
      await registry.close();
    }
  },
  fetchContext: ({ url, to }) => fetchContext({ url, to, clock: systemClock }),
};
