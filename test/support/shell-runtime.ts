import type { Runtime } from "../../src/runtimes/index.ts";

const INSTALL = `
echo "installing $(cat deps.txt)"
echo x >> "$INSTALL_COUNT"
case $(cat deps.txt) in
  fail) echo "no such dependency: https://user:secret@registry.test/x" >&2; exit 1 ;;
  hang) sleep 300 ;;
  slow) sleep 1 ;;
  env) env ;;
  noisy) i=0; while [ $i -lt 60 ]; do echo "line $i"; i=$((i + 1)); done; exit 7 ;;
esac
mkdir modules; cp deps.txt modules/installed`;

/** A runtime of plain text and the shell: handlers are `.txt` files, `deps.txt` says how its installation behaves. */
export function shellRuntime(more: Partial<Runtime> = {}): Runtime {
  return {
    name: "shell1",
    language: "shell",
    baseImage: "none",
    interpreter: {
      version: "1",
      minimum: "1",
      commands: ["sh"],
      folders: [],
      versionArgs: ["-c", "echo shell 1.2.3"],
      versionPattern: "^shell (\\d+\\.\\d+\\.\\d+)",
      install: "buy a computer",
    },
    folder: "/opt/shell",
    digest: "0".repeat(64),
    dependencyFiles: ["deps.txt"],
    install: [{ when: ["deps.txt"], command: ["{interpreter}", "-c", INSTALL] }],
    linkDeps: "modules",
    handlerExtensions: [".txt"],
    start: { command: ["{interpreter}", "{runtime}/server", "{source}"], env: { HEAP: "{memoryMB}", DEPS: "{deps}" } },
    buildEnv: {},
    ...more,
  };
}
