export type * from "./routes.ts";
