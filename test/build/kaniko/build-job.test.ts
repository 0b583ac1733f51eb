import { expect, it } from "vitest";
import {
  type BuildJobInput,
  baseRepositories,
  buildJobName,
  buildJobOf,
  KANIKO_DEFAULTS,
  type KanikoSettings,
} from "../../../src/build/kaniko/index.ts";

const KEY = "0123456789abcdef".repeat(4);
const SETTINGS: KanikoSettings = {
  ...KANIKO_DEFAULTS,
  builderImage: "registry.example.org/kaniko@sha256:1",
  slessImage: "registry.example.org/sless@sha256:2",
  registry: { host: "registry.example.org" },
};
const INPUT: BuildJobInput = {
  request: {
    key: KEY,
    workload: { kind: "Function", namespace: "demo", name: "hello" },
    target: { repository: "sless-deps", tag: "abc" },
    dockerfile: `FROM registry.example.org/sless-base@sha256:${"3".repeat(64)}\nRUN true\n`,
  },
  contextKey: "contexts/demo/hello/1.tar.gz",
  contextUrl: "https://s3.example.org/b/contexts/demo/hello/1.tar.gz?X-Amz-Signature=s",
  pushSecret: "sless-push",
  pullSecret: "sless-pull",
  startedAt: new Date("2026-01-02T03:04:05.678Z"),
};

const podOf = (input: Partial<BuildJobInput> = {}, settings: Partial<KanikoSettings> = {}) =>
  buildJobOf({ ...INPUT, ...input }, { ...SETTINGS, ...settings }).spec.template.spec!;

it("a build's Job is this, to the letter", () => {
  expect(buildJobOf(INPUT, SETTINGS)).toMatchInlineSnapshot(`
    {
      "apiVersion": "batch/v1",
      "kind": "Job",
      "metadata": {
        "annotations": {
          "sless.kube5s.ru/build-context": "contexts/demo/hello/1.tar.gz",
          "sless.kube5s.ru/build-key": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
          "sless.kube5s.ru/build-started-at": "2026-01-02T03:04:05.678Z",
        },
        "labels": {
          "app.kubernetes.io/component": "build",
          "app.kubernetes.io/managed-by": "sless",
          "app.kubernetes.io/name": "hello",
          "sless.kube5s.ru/kind": "Function",
          "sless.kube5s.ru/name": "hello",
          "sless.kube5s.ru/namespace": "demo",
        },
        "name": "build-0123456789abcdef0123456789abcdef01234567",
        "namespace": "sless-builds",
      },
      "spec": {
        "activeDeadlineSeconds": 1200,
        "backoffLimit": 0,
        "completions": 1,
        "parallelism": 1,
        "template": {
          "metadata": {
            "labels": {
              "app.kubernetes.io/component": "build",
              "app.kubernetes.io/managed-by": "sless",
              "app.kubernetes.io/name": "hello",
              "sless.kube5s.ru/kind": "Function",
              "sless.kube5s.ru/name": "hello",
              "sless.kube5s.ru/namespace": "demo",
            },
          },
          "spec": {
            "automountServiceAccountToken": false,
            "containers": [
              {
                "args": [
                  "push-image",
                  "--layout",
                  "/layout",
                  "--destination",
                  "registry.example.org/sless-deps:abc",
                  "--report",
                  "/dev/termination-log",
                  "--docker-config",
                  "/run/sless/registry/config.json",
                  "--mount-from",
                  "sless-base",
                ],
                "env": [],
                "image": "registry.example.org/sless@sha256:2",
                "imagePullPolicy": "IfNotPresent",
                "name": "push",
                "resources": {
                  "limits": {
                    "cpu": "1",
                    "ephemeral-storage": "64Mi",
                    "memory": "256Mi",
                  },
                  "requests": {
                    "cpu": "50m",
                    "ephemeral-storage": "0",
                    "memory": "96Mi",
                  },
                },
                "securityContext": {
                  "allowPrivilegeEscalation": false,
                  "capabilities": {
                    "drop": [
                      "ALL",
                    ],
                  },
                  "readOnlyRootFilesystem": true,
                  "runAsGroup": 65532,
                  "runAsNonRoot": true,
                  "runAsUser": 65532,
                },
                "terminationMessagePolicy": "FallbackToLogsOnError",
                "volumeMounts": [
                  {
                    "mountPath": "/layout",
                    "name": "layout",
                    "readOnly": true,
                  },
                  {
                    "mountPath": "/run/sless/registry",
                    "name": "push-credentials",
                    "readOnly": true,
                  },
                ],
              },
            ],
            "enableServiceLinks": false,
            "imagePullSecrets": [
              {
                "name": "sless-pull",
              },
            ],
            "initContainers": [
              {
                "args": [
                  "--context=https://s3.example.org/b/contexts/demo/hello/1.tar.gz?X-Amz-Signature=s",
                  "--dockerfile=Dockerfile",
                  "--no-push",
                  "--oci-layout-path=/kaniko/layout",
                  "--snapshot-mode=full",
                  "--single-snapshot",
                  "--compressed-caching=false",
                  "--image-download-retry=3",
                  "--log-format=text",
                  "--force",
                  "--image-format=oci",
                ],
                "image": "registry.example.org/kaniko@sha256:1",
                "name": "build",
                "resources": {
                  "limits": {
                    "cpu": "2",
                    "ephemeral-storage": "10Gi",
                    "memory": "2Gi",
                  },
                  "requests": {
                    "cpu": "250m",
                    "ephemeral-storage": "0",
                    "memory": "512Mi",
                  },
                },
                "securityContext": {
                  "allowPrivilegeEscalation": false,
                  "capabilities": {
                    "add": [
                      "CHOWN",
                      "DAC_OVERRIDE",
                      "FOWNER",
                      "SETGID",
                      "SETUID",
                      "SETFCAP",
                      "KILL",
                    ],
                    "drop": [
                      "ALL",
                    ],
                  },
                  "runAsUser": 0,
                },
                "terminationMessagePolicy": "FallbackToLogsOnError",
                "volumeMounts": [
                  {
                    "mountPath": "/kaniko/layout",
                    "name": "layout",
                  },
                  {
                    "mountPath": "/kaniko/.docker",
                    "name": "pull-credentials",
                    "readOnly": true,
                  },
                ],
              },
            ],
            "restartPolicy": "Never",
            "securityContext": {
              "seccompProfile": {
                "type": "RuntimeDefault",
              },
            },
            "volumes": [
              {
                "emptyDir": {
                  "sizeLimit": "10240Mi",
                },
                "name": "layout",
              },
              {
                "name": "push-credentials",
                "secret": {
                  "defaultMode": 292,
                  "items": [
                    {
                      "key": ".dockerconfigjson",
                      "path": "config.json",
                    },
                  ],
                  "secretName": "sless-push",
                },
              },
              {
                "name": "pull-credentials",
                "secret": {
                  "defaultMode": 292,
                  "items": [
                    {
                      "key": ".dockerconfigjson",
                      "path": "config.json",
                    },
                  ],
                  "secretName": "sless-pull",
                },
              },
            ],
          },
        },
        "ttlSecondsAfterFinished": 86400,
      },
    }
  `);
});

it("a store without TLS is read by sless, and the builder reads a file", () => {
  const { initContainers = [], volumes } = podOf({ contextUrl: "http://s3.example.org/b/k?X-Amz-Signature=s" });
  const [fetch, build] = initContainers;
  expect(fetch).toMatchObject({
    name: "fetch",
    image: SETTINGS.slessImage,
    args: ["fetch-context", "--url", "http://s3.example.org/b/k?X-Amz-Signature=s", "--to", "/context/context.tar.gz"],
    securityContext: { runAsNonRoot: true, readOnlyRootFilesystem: true },
  });
  expect(build?.args).toContain("--context=tar:///kaniko/files/context.tar.gz");
  expect(build?.volumeMounts).toContainEqual({ name: "context", mountPath: "/kaniko/files", readOnly: true });
  expect(volumes).toContainEqual({ name: "context", emptyDir: { sizeLimit: "10240Mi" } });
});

it("only the container that pushes has the credentials that may push", () => {
  for (const contextUrl of ["https://s3/x", "http://s3/x"]) {
    const { initContainers = [], containers } = podOf({ contextUrl });
    const mounts = (container: (typeof containers)[number]) => container.volumeMounts?.map(({ name }) => name);
    expect(containers.map(mounts)).toEqual([["layout", "push-credentials"]]);
    expect(initContainers.flatMap(mounts)).not.toContain("push-credentials");
  }
});

it("no container holds credentials where the registry asks for none", () => {
  const pod = podOf({ pushSecret: undefined, pullSecret: undefined });
  expect(JSON.stringify(pod)).not.toMatch(/secret|config\.json/i);
  expect(pod.imagePullSecrets).toBeUndefined();
});

it("a registry without TLS and a mirror are told to both who pull and push", () => {
  const registry = { host: "10.0.0.1:5000", plainHttp: true, mirror: "10.0.0.2:5000" };
  const { initContainers = [], containers } = podOf({}, { registry });
  expect(initContainers[0]?.args).toEqual(
    expect.arrayContaining([
      "--registry-mirror=10.0.0.2:5000",
      "--insecure-registry=10.0.0.1:5000",
      "--insecure-registry=10.0.0.2:5000",
    ]),
  );
  expect(containers[0]?.args).toContain("--plain-http");
});

it("variables of an installation reach what runs sless, and no command of a user", () => {
  const { initContainers = [], containers } = podOf({}, { env: { HTTPS_PROXY: "http://proxy:3128" } });
  expect(containers[0]?.env).toEqual([{ name: "HTTPS_PROXY", value: "http://proxy:3128" }]);
  expect(initContainers.find(({ name }) => name === "build")?.env).toBeUndefined();
});

it("every container asks for something and has limits, so that a quota can count it", () => {
  const { initContainers = [], containers } = podOf({ contextUrl: "http://s3/x" });
  for (const { resources } of [...initContainers, ...containers])
    for (const amounts of [resources?.requests, resources?.limits])
      expect(Object.keys(amounts ?? {}).sort()).toEqual(["cpu", "ephemeral-storage", "memory"]);
});

it("names of Jobs leave room for the ending that a pod's name has", () => {
  expect(buildJobName(KEY)).toMatch(/^[a-z][a-z0-9-]{0,56}$/);
});

it.each([
  ["a base in the registry", `FROM registry.example.org/sless-base@sha256:${"1".repeat(64)}`, {}, ["sless-base"]],
  [
    "stages",
    "FROM registry.example.org/go:1 AS build\nRUN x\nFROM --platform=linux/amd64 registry.example.org/run:1\n",
    {},
    ["go", "run"],
  ],
  ["the same base twice", "FROM registry.example.org/a:1\nFROM registry.example.org/a:2", {}, ["a"]],
  ["a base of another registry", "FROM ghcr.io/a/b:1", {}, []],
  ["a base of Docker Hub", "FROM python:3.11", {}, []],
  [
    "a base of Docker Hub that the registry mirrors",
    "FROM python:3.11",
    { mirror: "registry.example.org" },
    ["library/python"],
  ],
  ["a stage and scratch", "FROM scratch\nFROM build", {}, []],
  ["what is no reference", "FROM $BASE\nFROM a b:c:d", {}, []],
])("layers are mounted from the repositories of %s", (_name, dockerfile, registry, expected) => {
  expect(baseRepositories(dockerfile, { registry: { ...SETTINGS.registry, ...registry } })).toEqual(expected);
});
