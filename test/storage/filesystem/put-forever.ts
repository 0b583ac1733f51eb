// Puts objects whose key names their content until it is killed.
import { createHash } from "node:crypto";
import { openFilesystemStore } from "../../../src/storage/filesystem/index.ts";

const store = await openFilesystemStore(process.argv[2]!);
for (let i = 0; ; i++) {
  const body = Buffer.alloc(200_000 + i, i);
  const key = `functions/demo/f${i % 7}/${createHash("sha256").update(body).digest("hex")}`;
  await store.put(key, body);
  process.stdout.write(`${key}\n`);
}
