import { isDeepStrictEqual } from "node:util";
import type { AnyObject, Kind, ObjectOf } from "../apis/index.ts";
import type { Informer } from "../controller/index.ts";
import { lackingSource, lacksSource } from "./lacking-source.ts";
import type { LiveObjects, LiveReads } from "./live-reads.ts";

/** What is kept in memory of all kinds; the informers are started and stopped by whoever made them. */
export interface SyncInformers {
  readonly repositories: Pick<Informer<"Repository">, "list" | "onEvent">;
  readonly functions: Pick<Informer<"Function">, "list" | "onEvent">;
  readonly services: Pick<Informer<"Service">, "list" | "onEvent">;
  readonly jobs: Pick<Informer<"FunctionJob">, "list" | "onEvent">;
  readonly triggers: Pick<Informer<"Trigger">, "list" | "onEvent">;
}

/** Calls back for every change of a Function, Service, FunctionJob or Trigger that is more than a new status. */
export function onContentChange(
  informers: SyncInformers,
  changed: (object: AnyObject, before: AnyObject | undefined, isGone: boolean) => void,
): () => void {
  const listener = <K extends Kind>(type: string, object: ObjectOf<K>, before?: ObjectOf<K>) => {
    if (type === "DELETED" || !before || !hasSameContent(object, before))
      changed(object as AnyObject, before as AnyObject | undefined, type === "DELETED");
  };
  const stops = [
    informers.functions.onEvent(listener),
    informers.services.onEvent(listener),
    informers.jobs.onEvent(listener),
    informers.triggers.onEvent(listener),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Calls back when a build says of an object that it cannot read its source. */
export function onSourceLost(informers: SyncInformers, lost: (object: AnyObject) => void): () => void {
  return onSourceLacking(informers, (object, before) => {
    if (before && !lacksSource(before)) lost(object);
  });
}

/** Calls back for every object whose source cannot be read, and whenever such a one changes. */
function onSourceLacking(
  informers: SyncInformers,
  lacking: (object: AnyObject, before: AnyObject | undefined) => void,
): () => void {
  const listener = <K extends Kind>(type: string, object: ObjectOf<K>, before?: ObjectOf<K>) => {
    if (type !== "DELETED" && lacksSource(object as AnyObject))
      lacking(object as AnyObject, before as AnyObject | undefined);
  };
  const { functions, services, jobs } = informers;
  const stops = [functions.onEvent(listener), services.onEvent(listener), jobs.onEvent(listener)];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Equal but for status and version. */
export function hasSameContent({ metadata: a }: ObjectOf<Kind>, { metadata: b }: ObjectOf<Kind>): boolean {
  return (
    a.uid === b.uid &&
    a.generation === b.generation &&
    a.deletionTimestamp === b.deletionTimestamp &&
    isDeepStrictEqual(a.labels, b.labels) &&
    isDeepStrictEqual(a.annotations, b.annotations)
  );
}

/** Reads from informers. An answer is remembered until the next change that is more than a new status. */
export function cachedReads(informers: SyncInformers): LiveReads & { close(): void } {
  let changes = 0;
  /** By namespace; emptied by every change in it. */
  const answers = new Map<string, LiveObjects>();
  const stopContent = onContentChange(informers, ({ metadata }) => answers.delete(metadata.namespace));
  /** Namespaces in which no build lacks its source: the usual case, for which nothing is looked through. */
  const sound = new Set<string>();
  const stopLacking = onSourceLacking(informers, ({ metadata }) => sound.delete(metadata.namespace));
  const stopRepositories = informers.repositories.onEvent((type) => {
    if (type !== "MODIFIED") answers.clear();
  });

  function read(namespace: string): LiveObjects {
    const { functions, services, jobs, triggers, repositories } = informers;
    changes += 1;
    return {
      items: [functions, services, jobs, triggers].flatMap((informer) => informer.list(namespace) as AnyObject[]),
      repositories: new Map(repositories.list().map(({ metadata }) => [metadata.uid, metadata])),
      version: String(changes),
    };
  }

  return {
    async objects(namespace) {
      const answer = answers.get(namespace) ?? read(namespace);
      answers.set(namespace, answer);
      return answer;
    },
    async lackingSource(namespace) {
      if (sound.has(namespace)) return [];
      const { functions, services, jobs } = informers;
      const all = [functions, services, jobs].flatMap((informer) => informer.list(namespace) as AnyObject[]);
      const lacking = lackingSource(all);
      if (lacking.length === 0) sound.add(namespace);
      return lacking;
    },
    close() {
      stopContent();
      stopLacking();
      stopRepositories();
    },
  };
}
