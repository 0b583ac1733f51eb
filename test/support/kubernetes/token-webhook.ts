import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { readUser } from "./credentials.ts";

interface TokenReview {
  readonly apiVersion: string;
  readonly spec?: { readonly token?: string; readonly audiences?: readonly string[] };
}

/**
 * Tells the API server who the tokens of `signUser` speak for: its own list of tokens is read at its start only, and
 * tests make up users as they go.
 */
export async function startTokenWebhook(key: string): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const review = (await json(request)) as TokenReview;
    const user = readUser(review.spec?.token ?? "", key);
    const status = user
      ? {
          authenticated: true,
          user: { username: user.user, uid: user.user, groups: user.groups },
          audiences: review.spec?.audiences,
        }
      : { authenticated: false };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ apiVersion: review.apiVersion, kind: "TokenReview", status }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
