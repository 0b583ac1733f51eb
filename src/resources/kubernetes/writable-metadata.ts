import type { ObjectIntent } from "../../apis/index.ts";

/** What a writer may set. */
export function writableMetadata(metadata: ObjectIntent["metadata"]): ObjectIntent["metadata"] {
  const { name, namespace, labels, annotations, finalizers } = metadata;
  return {
    name,
    namespace,
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(finalizers && { finalizers }),
  };
}
