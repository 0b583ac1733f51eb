export * from "./native-fetcher.ts";
export * from "./native-reader.ts";
