export * from "./embedded-app.ts";
