import { expect, it } from "vitest";
import { listPage } from "../../src/server/list-page.ts";
import { functionIntent, serverFixture } from "./server-fixture.ts";

const HOSTILE = {
  name: "x",
  kind: "Function",
  phase: "Failed",
  url: "javascript:alert(1)",
  message: "<script>alert('1')</script>\u001b[2J\nsecond \"line\"",
};

it("a terminal gets one line for each function and service", async () => {
  const { store, url } = await serverFixture();
  const written = await store.create(functionIntent("hello"), { owner: "api" });
  await store.updateStatus(written, { phase: "Ready", url: "http://127.0.0.1:9090/fn/default/hello" });
  await store.create(
    { kind: "Service", metadata: { name: "clock", namespace: "default" }, spec: { runtime: "nodejs20" } },
    { owner: "api" },
  );
  const answer = await fetch(`${url}/funcs/default`);
  expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(await answer.text()).toBe(
    [
      "NAME   KIND      PHASE    URL                                     MESSAGE",
      "clock  Service   Pending",
      "hello  Function  Ready    http://127.0.0.1:9090/fn/default/hello",
      "",
    ].join("\n"),
  );
});

it("a browser gets HTML that runs no script", async () => {
  const { url } = await serverFixture();
  const answer = await fetch(`${url}/funcs/default`, { headers: { accept: "text/html,*/*" } });
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(await answer.text()).toContain("Nothing runs in default.");
});

it("nothing that a function says becomes markup, a link or a terminal's command", () => {
  const { html, text } = listPage("<b>", [HOSTILE]);
  expect(html).not.toMatch(/<script|<b>|href="javascript/);
  expect(html).toContain("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;");
  expect(text.split("\n")).toHaveLength(3);
  expect(text).not.toContain("\u001b");
});

it.each(["/", "/funcs"])("%s tells how to address a list", async (path) => {
  const { url } = await serverFixture();
  expect(await (await fetch(`${url}${path}`)).text()).toContain("/funcs/{namespace}");
});
