import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { expect, it } from "vitest";
import { formFile } from "../../src/server/form-file.ts";

async function* inPieces(body: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

function fileOf(text: string, type = 'multipart/form-data; boundary="x y"', size = 3): Promise<Buffer> {
  return buffer(formFile(inPieces(Buffer.from(text, "latin1"), size), type));
}

const part = (headers: string, content: string) => `--x y\r\n${headers}\r\n\r\n${content}\r\n`;
const FILE = 'Content-Disposition: form-data; name="file"; filename="a.zip"';

it("any file of a form that fetch writes comes out, however its bytes are cut", async () => {
  const fields = fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.string({ unit: "binary" })), { maxLength: 3 });
  // What looks like a boundary, almost.
  const teasing = fc.constantFrom("\r\n", "\r\n--", "--", "\r\n------form", "\r", "\n", "-");
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.array(teasing, { maxLength: 20 }).map((texts) => new Uint8Array(Buffer.from(texts.join("")))),
  );
  await fc.assert(
    fc.asyncProperty(fields, content, fields, fc.integer({ min: 1, max: 90 }), async (before, bytes, after, size) => {
      const form = new FormData();
      for (const [name, text] of before) form.append(name, text.toWellFormed());
      form.append("file", new Blob([new Uint8Array(bytes)]), "x.zip");
      for (const [name, text] of after) form.append(name, text.toWellFormed());
      const sent = new Response(form);
      const type = sent.headers.get("content-type")!;
      const body = new Uint8Array(await sent.arrayBuffer());
      expect(Buffer.compare(await buffer(formFile(inPieces(body, size), type)), bytes)).toBe(0);
    }),
    { numRuns: 150 },
  );
});

it("the first of several files counts, and what surrounds the parts does not", async () => {
  const text = `preamble\r\n${part("X: y", "no file")}${part(FILE, "one")}${part(FILE, "two")}--x y--\r\nepilogue`;
  expect((await fileOf(text)).toString()).toBe("one");
  expect((await fileOf(`${part(FILE, "")}--x y--`)).toString()).toBe("");
  expect((await fileOf(`--x y\r\n\r\nno headers\r\n${part(FILE, "one")}--x y--`)).toString()).toBe("one");
});

it.each([
  ["without a file", `${part('Content-Disposition: form-data; name="a"', "b")}--x y--`, undefined, "holds no file"],
  ["of nothing", "", undefined, "ends too early"],
  ["without its end", part(FILE, "one").slice(0, -2), undefined, "ends too early"],
  ["that is none", "PK whatever", undefined, "ends too early"],
  ["with a boundary amid a line", "--x yz\r\n\r\n", undefined, "boundary is no line"],
  ["whose headers have no end", `--x y\r\n${"a".repeat(20_000)}`, undefined, "have no end"],
  ["without a boundary", "--x", "multipart/form-data", "names no boundary"],
])("a form %s is refused", async (_, text, type, cause) => {
  await expect(fileOf(text, type, 100)).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining(cause),
  });
});

it.each([
  [
    "is refused",
    `${part('Content-Disposition: form-data; name="a"', "b")}--x y--`,
    (file: AsyncIterable<unknown>) => buffer(file as never).catch(() => undefined),
  ],
  [
    "is wanted no more",
    `${part(FILE, "one")}--x y--`,
    async (file: AsyncIterable<unknown>) => {
      for await (const _ of file) break;
    },
  ],
])("the body of a form that %s is ended, and holds nothing open", async (_, text, read) => {
  let ended = false;
  async function* body() {
    try {
      yield Buffer.from(text);
      await new Promise(() => undefined);
    } finally {
      ended = true;
    }
  }
  await read(formFile(body(), 'multipart/form-data; boundary="x y"'));
  expect(ended).toBe(true);
});
