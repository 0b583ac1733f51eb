import { describe } from "vitest";
import { routesContract } from "../contract/routes.ts";
import { memoryRoutes } from "../support/memory-routes.ts";

describe("routes in memory", () =>
  routesContract(async () => {
    const routes = memoryRoutes();
    return { routes, takeAway: routes.takeAway };
  }));
