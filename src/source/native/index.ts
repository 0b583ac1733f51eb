export * from "./find-git.ts";
export * from "./native-reader.ts";
