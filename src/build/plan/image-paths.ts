/** Where everything of a function stands in its image. */
export const IMAGE_PATHS = {
  /** The runtime's own files, the server. */
  runtime: "/sless/runtime",
  /** What a compiler wrote, `imageFiles` and `linkDeps` stand in it. */
  out: "/sless/image",
  source: "/sless/image/source",
  deps: "/sless/image/deps",
} as const;
