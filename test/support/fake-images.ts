import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { LocalImage } from "../../src/processes/index.ts";

/** How the server of test/fixtures/images behaves. */
export interface ImageBehaviour {
  readonly text?: string;
  readonly exitAtStart?: number;
  /** Printed at the start. */
  readonly print?: string;
  /** Name of a variable whose value is printed at the start. */
  readonly printEnv?: string;
  /** It neither listens nor ends. */
  readonly silent?: boolean;
  /** So many probes are answered with 503 first. */
  readonly unhealthyProbes?: number;
  /** It holds so much memory before it does anything else. */
  readonly growMB?: number;
  readonly ignoreTerm?: boolean;
  readonly jobMs?: number;
  readonly jobExit?: number;
  readonly result?: string;
}

export interface FakeImages {
  /** Makes an image; its reference. */
  make(behaviour?: ImageBehaviour): Promise<string>;
  resolveImage(imageRef: string): Promise<LocalImage | undefined>;
}

const SERVER = resolve(import.meta.dirname, "../fixtures/images/server.mjs");

/** Images without a builder: a folder with a behaviour, started by one small server. */
export function fakeImages(folder: string): FakeImages {
  const images = new Map<string, LocalImage>();
  return {
    async make(behaviour = {}) {
      const source = join(folder, `image-${images.size}`);
      const imageRef = `local/image@sha256:${images.size}`;
      const image = {
        runtime: "test",
        folder: source,
        source,
        deps: source,
        command: [process.execPath, SERVER],
        env: {},
      };
      images.set(imageRef, image);
      await mkdir(source, { recursive: true });
      await writeFile(join(source, "image-behaviour.json"), JSON.stringify({ text: imageRef, ...behaviour }));
      return imageRef;
    },
    resolveImage: async (imageRef) => images.get(imageRef),
  };
}
