export * from "../../servers/build.ts";
export * from "./cluster.ts";
export * from "./control-plane.ts";
export * from "./describe-on-cluster.ts";
export * from "./refuse-objects.ts";
export * from "./shared-cluster.ts";
export * from "./until-allowed.ts";
