import { describe, expect, it } from "vitest";
import { packageReach } from "../../../src/build/plan/package-reach.ts";
import { requirementsReach } from "../../../src/build/plan/requirements-reach.ts";

const KNOWN = new Set(["requirements.txt", "constraints.txt"]);

describe("requirements that the dependency files alone can install", () => {
  it.each([
    "",
    "requests",
    "requests==2.32.0 # pinned",
    "requests>=2,<3 ; python_version < '3.12'",
    "uvicorn[standard]~=0.30",
    "# -e .",
    "flask  # see ./docs",
    "pip @ https://example.org/pip.zip#sha1=1234",
    "lib @ git+ssh://git@example.org/team/lib.git@main",
    "git+https://example.org/team/lib.git#egg=lib",
    "-e git+https://example.org/team/lib.git#egg=lib",
    "https://example.org/wheels/lib-1.0-py3-none-any.whl",
    "-c constraints.txt",
    "-c ./constraints.txt",
    "--constraint=constraints.txt",
    "-cconstraints.txt",
    "-r https://example.org/requirements.txt",
    "--index-url https://example.org/simple/",
    "--extra-index-url https://example.org/simple/",
    "-f https://example.org/wheels/",
    "--find-links=https://example.org/wheels/",
    "--no-binary :all:",
    "requests==2.32.0 \\\n    --hash=sha256:aa/bb==\\\n    --hash=sha256:cc",
    "\uFEFFrequests",
    "requests\r\nflask\r\n",
  ])("%j", (text) => {
    expect(requirementsReach(text, KNOWN)).toBeUndefined();
  });
});

// A tenant's file is looked through by the process that serves all of them.
it.each([" ", "x ", " @", "@ ", " ;", "; ", " --", " #", "\\", "a.", "x\\\n", "[", "./"])(
  "requirements of a megabyte of %j are looked through while nobody waits",
  (part) => {
    const line = part.repeat(1_000_000 / part.length);
    for (const text of [`${line}x`, `x${line}x`, `-r ${line}x`, `"${line}`])
      expect(() => requirementsReach(text, KNOWN)).not.toThrow();
  },
);

describe("requirements that reach into the source", () => {
  it.each([
    ["-e .", "installs the source itself"],
    ["--editable=.", "installs the source itself"],
    ["-e ./lib", "installs the source itself"],
    ["-e.", "installs the source itself"],
    [".", "installs a file or folder"],
    ["./lib", "installs a file or folder"],
    ["../lib", "installs a file or folder"],
    [".[dev]", "installs a file or folder"],
    ["lib/", "installs a file or folder"],
    ["/opt/lib", "installs a file or folder"],
    ["lib\\sub", "installs a file or folder"],
    ["wheels/lib-1.0-py3-none-any.whl", "installs a file or folder"],
    ["lib-1.0-py3-none-any.whl", "installs a file or folder"],
    ["lib-1.0.tar.gz[extra]", "installs a file or folder"],
    ["file:lib", "installs a file or folder"],
    ["lib @ file:///app/lib", "installs a file or folder"],
    ["lib @ ./lib ; python_version > '3'", "installs a file or folder"],
    ["-r base.txt", "includes a file of the source"],
    ["-rbase.txt", "includes a file of the source"],
    ["--requirement=requirements/base.txt", "includes a file of the source"],
    ["-c 'limits.txt'", "includes a file of the source"],
    ["-f wheels", "looks for packages in the source"],
    ["--find-links ./wheels", "looks for packages in the source"],
    ["requests \\\n-r base.txt\n./lib", "line 3 (./lib)"],
  ])("%j", (text, why) => {
    expect(requirementsReach(text, KNOWN)).toContain(why);
  });

  it("are told by their line, without what addresses carry", () => {
    const text = "# first\n\nlib @ file://user:secret@host/lib\n";
    expect(requirementsReach(text, KNOWN)).toBe(
      "line 3 (lib @ file://***@host/lib) installs a file or folder of the source",
    );
  });
});

describe("a package.json that the dependency files alone can install", () => {
  it.each([
    {},
    { dependencies: { a: "^1.0.0", b: "npm:c@1", d: "latest", e: "*", f: "" } },
    { dependencies: { a: "git+https://example.org/a.git", b: "user/repository", c: "https://example.org/c.tgz" } },
    { scripts: { test: "vitest", build: "tsc", start: "node ." } },
    { workspaces: [], overrides: { a: { ".": "1", b: "2" } } },
    { scripts: null, dependencies: [], overrides: "x" },
  ])("%j", (manifest) => {
    expect(packageReach(JSON.stringify(manifest))).toBeUndefined();
  });

  it.each(["", "{", "[]", "null", "3"])("that is none (%j) is npm's to refuse", (text) => {
    expect(packageReach(text)).toBeUndefined();
  });
});

describe("a package.json that reaches into the source", () => {
  it.each([
    [{ scripts: { postinstall: "node build.js" } }, "has an install script (postinstall)"],
    [{ scripts: { prepare: "tsc" } }, "has an install script (prepare)"],
    [{ scripts: { preinstall: "x", install: "y" } }, "has an install script (preinstall)"],
    [{ dependencies: { lib: "file:lib" } }, "takes lib from the source (file:lib)"],
    [{ dependencies: { lib: "./lib" } }, "takes lib from the source (./lib)"],
    [{ dependencies: { lib: ".." } }, "takes lib from the source (..)"],
    [{ dependencies: { lib: "lib-1.0.0.tgz" } }, "takes lib from the source (lib-1.0.0.tgz)"],
    [{ devDependencies: { lib: "link:lib" } }, "takes lib from the source (link:lib)"],
    [{ optionalDependencies: { lib: "workspace:*" } }, "takes lib from the source (workspace:*)"],
    [{ workspaces: ["packages/*"] }, "has workspaces"],
    [{ workspaces: { packages: ["a"] } }, "has workspaces"],
    [{ overrides: { a: { b: "file:b" } } }, "takes b from the source (overrides)"],
  ])("%j", (manifest, why) => {
    expect(packageReach(JSON.stringify(manifest))).toBe(why);
  });

  it("is read also when it nests without end", () => {
    let overrides: object = { lib: "file:lib" };
    for (let depth = 0; depth < 5_000; depth += 1) overrides = { a: overrides };
    expect(packageReach(JSON.stringify({ overrides }))).toBeUndefined();
  });
});
