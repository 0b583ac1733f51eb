import type { AnyObject } from "../apis/index.ts";

/** Of a status in a list: its message is the beginning of the one that the object itself tells. */
export interface ListedStatus {
  readonly messageTruncated?: true;
}

/** Whether the message of an object of a list is only the beginning. */
export function isMessageTruncated({ status }: Pick<AnyObject, "status">): boolean {
  return (status as ListedStatus | undefined)?.messageTruncated === true;
}
