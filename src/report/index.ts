export * from "./event-news.ts";
export * from "./reporter.ts";
