import { expect, it } from "vitest";
import { atMost, type Figure } from "../../bench/figure.ts";
import { renderTable } from "../../bench/render-table.ts";

const MACHINE = {
  system: "linux 6.1",
  processor: "Processor",
  cores: 2,
  memoryGB: 8,
  node: "26.1.0",
  git: "2.39.5",
  python: "3.11.7",
  functionNode: "20.1.0",
  load: 0.25,
};

it("shows figures beside their baselines, with the machine above and notes below", () => {
  const figures: Figure[] = [
    {
      name: "cold",
      amount: { value: 1.5, unit: "s" },
      baseline: { value: 1, unit: "s", of: "loop" },
      target: { text: "ratio ≤ 1.4", met: false },
    },
    {
      name: "quiet",
      amount: { value: 1.25, unit: "ms" },
      target: atMost(50, { value: 1.25, unit: "ms" }),
      note: "15 of them",
    },
    { name: "writes", amount: { value: 0, unit: "count" } },
  ];
  expect(renderTable({ date: "2026-01-02T03:04:05.000Z", machine: MACHINE, figures })).toBe(
    [
      "2026-01-02: 2 × Processor, 8 GB, linux 6.1; load at the start 0.3.",
      "Node 26.1.0, git 2.39.5; functions on Python 3.11.7 and Node 20.1.0.",
      "",
      "| Figure | Measured | Baseline    | Ratio | Target      | Met |",
      "| ------ | -------- | ----------- | ----- | ----------- | --- |",
      "| cold   | 1.50 s   | 1.00 s loop | 1.50  | ratio ≤ 1.4 | NO  |",
      "| quiet  | 1.3 ms   |             |       | ≤ 50 ms     | yes |",
      "| writes | 0        |             |       |             |     |",
      "",
      "- quiet: 15 of them",
      "",
    ].join("\n"),
  );
});
