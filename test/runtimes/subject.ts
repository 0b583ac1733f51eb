import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { buildImage, fixture, imageFolder } from "./machines.ts";
import { type Image, killReplica, type Machine, type Replica, spawnRuntime, startReplica } from "./replica.ts";

/** What the cases of the conformance suite work on: one shared replica of the main fixture, and more on demand. */
export interface Subject {
  readonly machine: Machine;
  /** Shared by the cases that leave it as it is. */
  shared(): Replica;
  /** A replica of its own, ended with the suite. */
  start(env?: Record<string, string>, image?: Image): Promise<Replica>;
  /** A process that need not come to listening. */
  spawn(env: Record<string, string>, image?: Image): Omit<Replica, "origin" | "port">;
  /** The image of another fixture, made once. */
  image(name: string, entrypoint?: string): Promise<Image>;
  /** A path in a folder that goes with the suite. */
  scratch(name: string): string;
}

/** Prepares a subject around the suite that calls it. */
export function openSubject(machine: Machine): Subject {
  const images = new Map<string, Promise<Image>>();
  const started: Omit<Replica, "origin" | "port">[] = [];
  let folder: string;
  let remove: () => Promise<void>;
  let main: Image;
  let shared: Replica;

  function image(name: string, entrypoint?: string): Promise<Image> {
    const key = `${name}-${(entrypoint ?? "").replaceAll(/\W/g, "_")}`;
    const made =
      images.get(key) ??
      buildImage(machine, {
        source: fixture(machine, name),
        folder: join(folder, key),
        ...(entrypoint !== undefined && { entrypoint }),
      });
    images.set(key, made);
    return made;
  }
  async function start(env: Record<string, string> = {}, of: Image = main): Promise<Replica> {
    const replica = await startReplica(machine, of, env);
    started.push(replica);
    return replica;
  }

  beforeAll(async () => {
    ({ folder, remove } = await imageFolder());
    main = await image("main");
    shared = await start();
  });
  afterAll(async () => {
    await Promise.all(started.map(killReplica));
    await remove();
  });

  return {
    machine,
    shared: () => shared,
    start,
    spawn(env, of = main) {
      const process = spawnRuntime(machine, of, env);
      started.push(process);
      return process;
    },
    image,
    scratch: (name) => join(folder, name),
  };
}
