import type { Dispatcher } from "undici";
import { refusalOf } from "./registry-error.ts";

/** An answer of this status, its body unread. @throws RegistryError for any other */
export async function accepted(
  response: Dispatcher.ResponseData,
  status: number,
  what: string,
): Promise<Dispatcher.ResponseData> {
  if (response.statusCode === status) return response;
  throw await refusalOf(response, what);
}

/** The same of an answer whose body says nothing. @throws RegistryError for any other status */
export async function expectStatus(response: Dispatcher.ResponseData, status: number, what: string): Promise<void> {
  await (await accepted(response, status, what)).body.dump();
}
