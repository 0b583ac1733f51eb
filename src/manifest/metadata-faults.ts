import { ANNOTATIONS, DISABLED, ENABLED, type Fault, GROUP, nearestName } from "../apis/index.ts";

/** Annotations of ours that a manifest may carry. */
const USERS_OWN: readonly string[] = [ANNOTATIONS.adopt, ANNOTATIONS.prune, ANNOTATIONS.reconcile];
const SWITCH_VALUES: readonly string[] = [ENABLED, DISABLED];

/** Name part of labels and annotations as Kubernetes wants it, with an optional DNS prefix. */
const KEY_PATTERN = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE_PATTERN = /^(?:[A-Za-z0-9](?:[-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?$/;
const ANNOTATIONS_MAX = 262_144;

type Texts = Readonly<Record<string, string>>;

/** Faults of labels and annotations that fit the schema: marks of sless itself, and what a cluster would refuse. */
export function metadataFaults(metadata: { labels?: Texts; annotations?: Texts }): Fault[] {
  return [...labelFaults(metadata.labels ?? {}), ...annotationFaults(metadata.annotations ?? {})];
}

function labelFaults(labels: Texts): Fault[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const path = ["metadata", "labels", key];
    if (isOurs(key)) return [{ path, message: "is set by sless itself; remove it" }];
    if (!KEY_PATTERN.test(key)) return [keyFault(path)];
    if (LABEL_VALUE_PATTERN.test(value)) return [];
    const message = `the value of a label has at most 63 letters, digits, "-", "_" and "."; use an annotation for others`;
    return [{ path, message }];
  });
}

function annotationFaults(annotations: Texts): Fault[] {
  const faults = Object.entries(annotations).flatMap(([key, value]) => {
    const path = ["metadata", "annotations", key];
    if (isOurs(key)) return ownAnnotationFaults(key, value, path);
    return KEY_PATTERN.test(key) ? [] : [keyFault(path)];
  });
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (size > ANNOTATIONS_MAX)
    faults.push({
      path: ["metadata", "annotations"],
      message: `together exceed ${ANNOTATIONS_MAX} characters; shorten them`,
    });
  return faults;
}

function isOurs(key: string): boolean {
  return key.startsWith(`${GROUP}/`);
}

function ownAnnotationFaults(key: string, value: string, path: string[]): Fault[] {
  if (!USERS_OWN.includes(key)) {
    const near = nearestName(key, USERS_OWN);
    const message = near ? `no annotation of sless; did you mean ${near}?` : "is set by sless itself; remove it";
    return [
      {
        path,
        message: Object.values<string>(ANNOTATIONS).includes(key) ? "is set by sless itself; remove it" : message,
      },
    ];
  }
  if (SWITCH_VALUES.includes(value)) return [];
  return [
    { path, message: `${JSON.stringify(value).slice(0, 80)} is neither ${ENABLED} nor ${DISABLED}; write one of them` },
  ];
}

function keyFault(path: string[]): Fault {
  return {
    path,
    message: `no key of a label or annotation: use letters, digits, "-", "_" and ".", at most 63, with an optional "domain/" before`,
  };
}
