import { SlessError } from "../errors/index.ts";
import { COMPLETION_SCRIPTS, SHELLS, type Shell } from "./completion-scripts.ts";
import type { Verb } from "./verb.ts";

export const completion: Verb = {
  name: "completion",
  summary: "Print what makes a shell complete verbs, options and names",
  arguments: [{ name: "<shell>", description: SHELLS.join(", "), completes: "shell" }],
  examples: [
    { line: "source <(sless completion bash)", does: "for this shell; in ~/.bashrc for all" },
    { line: "source <(sless completion zsh)", does: "in ~/.zshrc, after compinit" },
    { line: "sless completion fish > ~/.config/fish/completions/sless.fish", does: "for all shells to come" },
  ],
  async run([word = ""], _options, { io }) {
    const shell = SHELLS.find((known) => known === word);
    if (!shell)
      throw new SlessError("usage_invalid", { cause: `"${word}" is none of ${SHELLS.join(", ")}`, verb: "completion" });
    io.stdout.write(COMPLETION_SCRIPTS[shell satisfies Shell]);
    return 0;
  },
};
