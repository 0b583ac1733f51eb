export * from "./git-reader.ts";
