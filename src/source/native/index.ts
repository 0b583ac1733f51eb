export * from "./native-reader.ts";
