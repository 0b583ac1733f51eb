import { S3ServiceException } from "@aws-sdk/client-s3";
import { expect, it } from "vitest";
import { openS3Store } from "../../src/storage/s3/index.ts";
import { s3Failure } from "../../src/storage/s3/s3-errors.ts";
import { httpServer } from "../support/http-server.ts";

it("keys that nobody set are told by the names of their variables", () => {
  const error = Object.assign(new Error("Could not load credentials from any providers"), {
    name: "CredentialsProviderError",
  });
  expect(s3Failure("Bucket b", error).message).toContain("set S3_ACCESS_KEY and S3_SECRET_KEY");
});

it.each([
  [
    403,
    "RequestTimeTooSkewed",
    "The difference is too large.",
    /the clocks of this machine and of the S3 server differ/,
  ],
  [301, "PermanentRedirect", "Use the specified endpoint.", /specified endpoint; check S3_REGION and S3_ENDPOINT/],
  [400, "AuthorizationHeaderMalformed", "expecting 'eu-west-1'", /AuthorizationHeaderMalformed: expecting 'eu-west-1'/],
  [
    403,
    "SignatureDoesNotMatch",
    "It differs.",
    /refused the credentials \(SignatureDoesNotMatch: It differs\); check S3_ACC/,
  ],
  [
    403,
    "AccessDenied",
    "Access Denied.",
    /refused the credentials \(AccessDenied: Access Denied\); .* the bucket's policy/,
  ],
  [400, "ExpiredToken", "It has expired.", /the credentials have expired \(ExpiredToken\)/],
  [503, "SlowDown", "Reduce your request rate.", /SlowDown: Reduce your request rate/],
])("an S3 server that answers %i %s at the start is told by its own words", async (status, code, words, told) => {
  const { origin } = await httpServer((request, response) => {
    request.resume();
    const body = `<Error><Code>${code}</Code><Message>${words}</Message></Error>`;
    response.writeHead(status, { "content-type": "application/xml" }).end(request.method === "HEAD" ? "" : body);
  });
  const credentials = { accessKeyId: "a", secretAccessKey: "b" };
  const opening = openS3Store({ endpoint: origin, bucket: "b", credentials, maxAttempts: 1 });
  await expect(opening).rejects.toMatchObject({ code: "storage_unavailable", message: expect.stringMatching(told) });
});

it("a refusal without words is told by its status", async () => {
  const metadata = { $fault: "client", $metadata: { httpStatusCode: 403 } } as const;
  const error = new S3ServiceException({ name: "Unknown", message: "UnknownError", ...metadata });
  expect(s3Failure("Object a", error).message).toContain("refused the credentials (the S3 server answered 403)");
});
