export * from "./isomorphic-reader.ts";
