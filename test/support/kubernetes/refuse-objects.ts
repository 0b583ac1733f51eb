import { randomBytes } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { makeCertificates } from "../certificates.ts";
import { eventually } from "../eventually.ts";
import type { TestCluster } from "./cluster.ts";

export interface Refusal {
  /** Only objects of this namespace are refused, so the shared cluster will do. */
  readonly namespace: string;
  readonly apiGroup: string;
  /** `functions`, `deployments`, … */
  readonly resource: string;
  /** Why the object must not be created or updated; undefined lets it pass. */
  because(object: { readonly metadata: { readonly name: string } }): string | undefined;
}

interface AdmissionReview {
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly resource: { readonly resource: string };
    readonly object: Parameters<Refusal["because"]>[0];
  };
}

const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

/** An admission webhook of one's own. Resolves when the API server asks it; it is gone after `await using`. */
export async function refuseObjects(cluster: TestCluster, refusal: Refusal): Promise<AsyncDisposable> {
  const { ca, cert, key } = makeCertificates();
  let isAsked = false;
  const server = createServer({ cert, key }, async (request, response) => {
    const { apiVersion, request: asked } = (await json(request)) as AdmissionReview;
    isAsked = true;
    const message = asked.resource.resource === refusal.resource ? refusal.because(asked.object) : undefined;
    const answer = { uid: asked.uid, allowed: message === undefined, ...(message ? { status: { message } } : {}) };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ apiVersion, kind: "AdmissionReview", response: answer }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const name = `refuse-${randomBytes(5).toString("hex")}`;
  const body = configuration(name, refusal, `https://127.0.0.1:${port}`, Buffer.from(ca).toString("base64"));
  const { status, body: answer } = await cluster.request("POST", CONFIGURATIONS, { body });
  if (status !== 201) throw new Error(`the webhook was refused: ${answer.message}`);
  const probe = `/api/v1/namespaces/${refusal.namespace}/configmaps?dryRun=All`;
  await eventually(
    "the API server asks the webhook",
    async () => (await cluster.request("POST", probe, { body: { metadata: { name } } })) && isAsked,
    (asked) => asked,
  );
  return {
    async [Symbol.asyncDispose]() {
      await cluster.request("DELETE", `${CONFIGURATIONS}/${name}`);
      server.close();
      server.closeAllConnections();
    },
  };
}

function configuration(name: string, { namespace, apiGroup, resource }: Refusal, url: string, caBundle: string) {
  const rule = (group: string, plural: string) => ({
    apiGroups: [group],
    apiVersions: ["*"],
    resources: [plural],
    operations: ["CREATE", "UPDATE"],
  });
  const webhook = {
    name: "refuse.sless.test",
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    failurePolicy: "Fail",
    clientConfig: { url, caBundle },
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
    rules: [rule(apiGroup, resource), rule("", "configmaps")], // the latter to see when it is asked
  };
  return { metadata: { name }, webhooks: [webhook] };
}
