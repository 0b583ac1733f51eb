/** Fetches a repository in a process of its own, to be killed: `<adapter> <url> <folder of the mirrors>`. */
import { networkPolicy, openRemoteRepositories } from "../../../src/source/index.ts";
import { ADAPTERS } from "./adapters.ts";

const [name, url = "", folder = ""] = process.argv.slice(2);
const { fetcher, openReader } = ADAPTERS.find((adapter) => adapter.name === name)!;
const repositories = await openRemoteRepositories({
  folder,
  readSecret: async () => undefined,
  policy: networkPolicy(["127.0.0.0/8"]),
  fetcher,
  openReader,
});
const reader = await repositories.open({ namespace: "demo", url });
await reader.resolve({});
await reader.close();
