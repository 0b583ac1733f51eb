export * from "./ingress-routes.ts";
