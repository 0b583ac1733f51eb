import { expect, it, onTestFinished } from "vitest";
import { keyOf, type ObjectKey } from "../../src/apis/index.ts";
import type { Routes } from "../../src/routes/index.ts";
import { eventually } from "../support/eventually.ts";

export interface OpenedRoutes {
  readonly routes: Routes;
  /** Removes a route as somebody else does who may. */
  takeAway(target: ObjectKey): void | Promise<void>;
}

const HELLO = { namespace: "team-a", name: "hello" };

/** What every Routes keeps; each test opens empty ones. */
export function routesContract(open: () => Promise<OpenedRoutes>): void {
  const targets = ({ routes }: OpenedRoutes) => routes.list().map(keyOf).sort();
  const until = (opened: OpenedRoutes, expected: string[]) =>
    eventually(
      `routes are ${expected}`,
      () => targets(opened),
      (seen) => `${seen}` === `${expected}`,
    );

  it("a route that is published is there, once, until it is withdrawn", async () => {
    const opened = await open();
    expect(targets(opened)).toEqual([]);
    await Promise.all([opened.routes.publish(HELLO), opened.routes.publish(HELLO)]);
    await opened.routes.publish(HELLO);
    expect(targets(opened)).toEqual(["team-a/hello"]);
    await opened.routes.withdraw(HELLO);
    await until(opened, []);
    await opened.routes.withdraw(HELLO);
  });

  it("routes of the same name in two namespaces, and of two names, are different ones", async () => {
    const opened = await open();
    const others = [
      { ...HELLO, namespace: "team-b" },
      { ...HELLO, name: "bye" },
    ];
    for (const target of [HELLO, ...others]) await opened.routes.publish(target);
    expect(targets(opened)).toEqual(["team-a/bye", "team-a/hello", "team-b/hello"]);
    await opened.routes.withdraw(HELLO);
    await until(opened, ["team-a/bye", "team-b/hello"]);
  });

  it("the longest names have a route", async () => {
    const opened = await open();
    const target = { namespace: "n".repeat(54), name: "f".repeat(52) };
    await opened.routes.publish(target);
    expect(opened.routes.list()).toEqual([target]);
  });

  it("what others take away is told and can be published again", async () => {
    const opened = await open();
    await opened.routes.publish(HELLO);
    const heard: string[] = [];
    onTestFinished(opened.routes.onChange((target) => heard.push(keyOf(target))));
    await opened.takeAway(HELLO);
    await until(opened, []);
    expect(heard).toContain("team-a/hello");
    await opened.routes.publish(HELLO);
    expect(targets(opened)).toEqual(["team-a/hello"]);
  });
}
