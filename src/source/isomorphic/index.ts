export * from "./isomorphic-fetcher.ts";
export * from "./isomorphic-reader.ts";
