/** What several pods share. */
export const SHARED_CLAIM = { objects: { persistence: { accessMode: "ReadWriteMany" } } };

/** Values of the chart that together reach every branch of its templates. */
export const VALUE_SETS: Readonly<Record<string, object>> = {
  "the defaults": {},
  "a Deployment per role": { mode: "roles", ...SHARED_CLAIM },
  "several replicas of all roles": { all: { replicas: 3 }, ...SHARED_CLAIM },
  "sources on the node": { objects: { persistence: { type: "hostPath", hostPath: "/var/lib/sless-objects" } } },
  "sources in the pod": { objects: { persistence: { type: "emptyDir" } } },
  "sources in a bucket": {
    mode: "roles",
    objects: { s3: { bucket: "sless", endpoint: "https://s3.example.org", region: "eu-1", secret: "s3" } },
  },
  "sources in a bucket of AWS": {
    mode: "roles",
    objects: { s3: { bucket: "sless", region: "eu-central-1", forcePathStyle: false } },
  },
  "builds in Jobs": {
    objects: { s3: { bucket: "sless", endpoint: "http://s3.storage.svc:7070", secret: "s3" } },
    registry: { host: "registry.storage.svc:5000", plainHTTP: true },
    builds: {
      image: `ghcr.io/osscontainertools/kaniko@sha256:${"0".repeat(64)}`,
      flags: ["--snapshot-mode=full", "--image-format=oci"],
      pullSecret: "pull",
      egress: { allowed: ["10.0.0.0/8"], namespaces: ["storage"] },
    },
  },
  "a claim that is there": { mode: "roles", objects: { persistence: { existingClaim: "sources" } } },
  "an external address": {
    externalURL: "https://sless.example.org",
    ingress: { enabled: true, className: "nginx", tlsSecret: "tls", annotations: { "example.org/size": "100m" } },
    trustForwarded: true,
  },
  "a host per function": { triggerIngress: { host: "fn.example.org", className: "nginx", tlsSecret: "wildcard" } },
  "nothing optional": {
    networkPolicy: { enabled: false },
    podDisruptionBudget: { enabled: false },
    crds: { install: false },
    tenants: { quota: null, limits: [], objects: null },
  },
  "everything optional": {
    mode: "roles",
    ...SHARED_CLAIM,
    image: {
      repository: "registry.example.org/sless",
      tag: "edge",
      pullPolicy: "Always",
      pullSecrets: [{ name: "pull" }],
    },
    registry: {
      host: "registry.example.org:5000/team",
      secret: "registry",
      plainHTTP: true,
      mirror: "mirror.example.org",
    },
    dns: [
      { to: [{ ipBlock: { cidr: "169.254.20.10/32" } }], ports: [{ port: 53, protocol: "UDP" }] },
      {
        to: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "openshift-dns" } } }],
        ports: [{ port: 5353 }],
      },
    ],
    git: { networks: ["10.20.0.0/16", "fd00::/8"] },
    tenants: {
      quota: { pods: 10, "count/jobs.batch": "20", "requests.memory": "41943040Ki", "limits.memory": "4e10" },
      objects: { "count/secrets": 10, "count/functions.sless.kube5s.ru": null },
      egress: { denied: ["203.0.113.0/24"], allowed: ["10.1.2.3"] },
      runtimeClassName: "gvisor",
    },
    gateway: {
      replicas: 5,
      podAnnotations: { "example.org/scrape": "true" },
      nodeSelector: { "kubernetes.io/os": "linux" },
      tolerations: [{ key: "dedicated", operator: "Exists", effect: "NoSchedule" }],
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] } },
          ],
        },
      },
      priorityClassName: "system-cluster-critical",
      env: [{ name: "NODE_OPTIONS", value: "--max-old-space-size=300" }],
    },
    networkPolicy: { metricsFrom: [{ namespaceSelector: { matchLabels: { name: "monitoring" } } }] },
    metrics: { serviceMonitor: { enabled: true, interval: "15s", labels: { release: "prometheus" } } },
  },
};
