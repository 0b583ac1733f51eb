import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { expect, it } from "vitest";
import { SlessError } from "../../src/errors/index.ts";
import { packArchive, type ReceiveOptions, receiveArchive, unpackArchive } from "../../src/source/index.ts";
import { fillDisk, mountSmallDisk } from "../support/small-disk.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const WHAT = "functions/demo/hello/1.zip";
const NOISE = randomBytes(300_000);

const archive = () =>
  packArchive([
    { path: "handler.py", mode: "100644", content: Buffer.from("print()") },
    { path: "noise", mode: "100755", content: NOISE },
  ]);

async function* inPieces(bytes: Uint8Array, then: () => void = () => undefined): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += 10_000) yield bytes.subarray(at, at + 10_000);
  then();
}

async function receive(body: AsyncIterable<Uint8Array>, more: Partial<ReceiveOptions> = {}) {
  const folder = more.folder ?? (await temporaryFolder());
  return { folder, opened: receiveArchive(body, { what: WHAT, ...more, folder }) };
}

it("an archive that came in pieces is read from a file without a name, whole and by its files", async () => {
  const zip = await archive();
  const { folder, opened } = await receive(inPieces(zip));
  const { files, size, stream, close } = await opened;
  expect(await readdir(folder)).toEqual([]);
  expect(files.map(({ path, mode }) => [path, mode])).toEqual([
    ["handler.py", "100644"],
    ["noise", "100755"],
  ]);
  expect(Buffer.compare(await buffer(files[1]!.stream()), NOISE)).toBe(0);
  expect(size).toBe(zip.byteLength);
  expect(Buffer.compare(await buffer(stream()), zip)).toBe(0);
  await close();
});

it("a body that breaks off is told by its own error, and leaves nothing", async () => {
  const zip = await archive();
  const gone = new SlessError("storage_unavailable", { what: WHAT, cause: "the connection broke" });
  const { folder, opened } = await receive(
    inPieces(zip.subarray(0, 200_000), () => {
      throw gone;
    }),
  );
  await expect(opened).rejects.toBe(gone);
  expect(await readdir(folder)).toEqual([]);
});

it("an archive that lacks its end, or a byte of its content, is no archive", async () => {
  const zip = await archive();
  const changed = Buffer.from(zip);
  changed[150_000]! ^= 1;
  for (const bytes of [zip.subarray(0, zip.byteLength - 10), zip.subarray(0, 200_000), changed]) {
    const { folder, opened } = await receive(inPieces(bytes));
    await expect(opened).rejects.toMatchObject({ code: "archive_invalid" });
    expect(await readdir(folder)).toEqual([]);
  }
});

it("an endless body ends where no archive within the limits is as long", async () => {
  let pieces = 0;
  async function* endless() {
    for (;;) {
      pieces += 1;
      yield NOISE;
    }
  }
  const { folder, opened } = await receive(endless(), { limits: { maxBytes: 1000 } });
  await expect(opened).rejects.toMatchObject({ code: "too_large" });
  expect(pieces).toBeLessThan(100);
  expect(await readdir(folder)).toEqual([]);
});

it("aborting ends the reading and the unpacking with its reason", async () => {
  const stop = new AbortController();
  const zip = await archive();
  const { opened } = await receive(
    inPieces(zip, () => stop.abort(new Error("superseded"))),
    { signal: stop.signal },
  );
  await expect(opened).rejects.toThrow("superseded");
  const whole = await (await receive(inPieces(zip))).opened;
  const folder = await temporaryFolder();
  await expect(unpackArchive(whole, folder, stop.signal)).rejects.toThrow("superseded");
  await whole.close();
});

it("a full disk is told with the archive that found no place, and forgotten once there is room", async (test) => {
  const folder = await temporaryFolder();
  if (!mountSmallDisk(folder)) return test.skip("needs the right to mount a tmpfs");
  const giveBack = await fillDisk(folder);
  const zip = await archive();
  await expect((await receive(inPieces(zip), { folder })).opened).rejects.toMatchObject({
    code: "storage_unavailable",
    message: expect.stringMatching(/The temporary copy of functions\/demo\/hello\/1\.zip .*ENOSPC/),
  });
  expect(await readdir(folder)).toEqual(["filler"]);
  await giveBack();
  const { files, close } = await (await receive(inPieces(zip), { folder })).opened;
  expect(files).toHaveLength(2);
  await close();
});
