import { expect, it } from "vitest";
import { parseChallenge } from "../../src/registry/challenge.ts";

const bearer = (realm: string, service: string | undefined) => ({ scheme: "bearer", realm, service });

/** As registries send it. */
const CHALLENGES: Record<string, [header: string | string[] | undefined, wanted: unknown]> = {
  "Docker Hub wants a token": [
    'Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:library/python:pull"',
    bearer("https://auth.docker.io/token", "registry.docker.io"),
  ],
  "Harbor wants a token": [
    'Bearer realm="https://harbor.example.org/service/token",service="harbor-registry"',
    bearer("https://harbor.example.org/service/token", "harbor-registry"),
  ],
  "GitHub wants a token": [
    'Bearer realm="https://ghcr.io/token",service="ghcr.io",scope="repository:user/image:pull"',
    bearer("https://ghcr.io/token", "ghcr.io"),
  ],
  "ECR wants a password": [
    'Basic realm="https://1.dkr.ecr.eu-west-1.amazonaws.com/",service="ecr.amazonaws.com"',
    { scheme: "basic" },
  ],
  "a token goes before a password": [
    ['Basic realm="registry"', 'Bearer realm="https://tokens.example.org/"'],
    bearer("https://tokens.example.org/", undefined),
  ],
  "both in one header": [
    'Basic realm="registry", Bearer realm="https://tokens.example.org/",service=plain',
    bearer("https://tokens.example.org/", "plain"),
  ],
  "a realm that is no address is none": ['Bearer realm="tokens",service="x"', undefined],
  "what nobody knows is none": ["Negotiate", undefined],
  "without a header there is none": [undefined, undefined],
};

it.each(Object.entries(CHALLENGES))("%s", (_, [header, wanted]) => {
  expect(parseChallenge(header)).toEqual(wanted);
});
