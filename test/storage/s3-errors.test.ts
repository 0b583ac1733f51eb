import { expect, it } from "vitest";
import { s3Failure } from "../../src/storage/s3/s3-errors.ts";

it("keys that nobody set are told by the names of their variables", () => {
  const error = Object.assign(new Error("Could not load credentials from any providers"), {
    name: "CredentialsProviderError",
  });
  expect(s3Failure("Bucket b", error).message).toContain("set S3_ACCESS_KEY and S3_SECRET_KEY");
});
