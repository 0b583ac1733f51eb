export interface FunctionRow {
  readonly name: string;
  readonly kind: string;
  readonly phase: string;
  /** Empty where there is none yet. */
  readonly url: string;
  readonly message: string;
}

/** The same content for a terminal and for a browser. */
export interface Page {
  readonly text: string;
  readonly html: string;
}

const GUIDE = "Ask for /funcs/{namespace}, for example /funcs/default; functions answer at /fn/{namespace}/{name}.";

/** How to address a list of functions. */
export function guidePage(): Page {
  return { text: `${GUIDE}\n`, html: htmlPage("sless", `<p>${escapeHtml(GUIDE)}</p>`) };
}

/** The functions and services of a namespace, one a line. Pure; values are shown, never obeyed. */
export function listPage(namespace: string, rows: readonly FunctionRow[]): Page {
  const columns: (keyof FunctionRow)[] = ["name", "kind", "phase", "url", "message"];
  const empty = `Nothing runs in ${plain(namespace)}.`;
  const cells = [
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) => columns.map((c) => plain(row[c]))),
  ];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => (line[at] as string).length)));
  const lines = cells.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] as number))
      .join("  ")
      .trimEnd(),
  );
  const head = columns.map((column) => `<th>${column}</th>`).join("");
  const body = rows.map((row) => `<tr>${columns.map((column) => `<td>${htmlCell(column, row)}</td>`).join("")}</tr>`);
  const table = `<table><tr>${head}</tr>${body.join("")}</table>`;
  return {
    text: rows.length === 0 ? `${empty}\n` : `${lines.join("\n")}\n`,
    html: htmlPage(`Functions of ${namespace}`, rows.length === 0 ? `<p>${escapeHtml(empty)}</p>` : table),
  };
}

function htmlCell(column: keyof FunctionRow, row: FunctionRow): string {
  const text = escapeHtml(row[column]);
  return column === "url" && /^https?:\/\//.test(row.url) ? `<a href="${text}">${text}</a>` : text;
}

function htmlPage(title: string, body: string): string {
  const style = "body{font:15px system-ui;margin:2em}td,th{text-align:left;padding:.2em 1em .2em 0;vertical-align:top}";
  const heading = escapeHtml(title);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${heading}</title><style>${style}</style><h1>${heading}</h1>${body}</html>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

/** One line without control characters: a message must not move the reader's cursor. */
function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
}
