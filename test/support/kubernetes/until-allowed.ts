import { eventually } from "../eventually.ts";
import type { TestCluster } from "./cluster.ts";

export interface WantedAccess {
  readonly verb: string;
  readonly group?: string;
  readonly resource: string;
  readonly namespace?: string;
}

/** An API server heeds a role and its binding a moment after they were written: waits until this token may do that. */
export async function untilAllowed(
  cluster: Pick<TestCluster, "request">,
  token: string,
  resourceAttributes: WantedAccess,
): Promise<void> {
  const body = { spec: { resourceAttributes } };
  await eventually(
    `${resourceAttributes.verb} ${resourceAttributes.resource} is allowed`,
    () => cluster.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { token, body }),
    ({ body: answer }) => answer.status?.allowed === true,
  );
}
