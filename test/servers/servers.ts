/** How one program of `test/servers/<module>/go.mod` is built. */
export interface ServerRecipe {
  /** Folder beside this file, with the go.mod that pins the version. */
  readonly module: string;
  /** Go package of the program. */
  readonly package: string;
  /** Build tags. */
  readonly tags?: readonly string[];
  /** Module whose pinned version the program tells as its own, by setting these variables. */
  readonly version?: { readonly of: string; readonly variables: readonly VersionVariable[] };
  /** How long a first build takes on two cores, given the modules. */
  readonly minutes: number;
}

type VersionVariable = readonly [name: string, part: "whole" | "major" | "minor" | `${number}`];

const COMPONENT = "k8s.io/component-base/version";
const KUBERNETES_VERSION: ServerRecipe["version"] = {
  of: "k8s.io/kubernetes",
  variables: [
    [`${COMPONENT}.gitVersion`, "whole"],
    [`${COMPONENT}.gitMajor`, "major"],
    [`${COMPONENT}.gitMinor`, "minor"],
  ],
};

function kubernetes(name: string, minutes: number): ServerRecipe {
  return { module: "kubernetes", package: `k8s.io/kubernetes/cmd/${name}`, version: KUBERNETES_VERSION, minutes };
}

/** Every program that tests may ask for. */
export const SERVERS = {
  etcd: { module: "etcd", package: ".", minutes: 1 },
  "kube-apiserver": kubernetes("kube-apiserver", 3),
  "kube-controller-manager": kubernetes("kube-controller-manager", 1),
  "kube-scheduler": kubernetes("kube-scheduler", 1),
  kubectl: kubernetes("kubectl", 1),
  kwok: { module: "kwok", package: "sigs.k8s.io/kwok/cmd/kwok", minutes: 3 },
  versitygw: { module: "versitygw", package: "github.com/versity/versitygw/cmd/versitygw", minutes: 2 },
  registry: { module: "registry", package: ".", minutes: 1 },
  // The version of Debian 12.
  "docker-registry": { module: "docker-registry", package: ".", minutes: 1 },
  "token-server": {
    module: "docker-registry",
    package: "github.com/docker/distribution/contrib/token-server",
    minutes: 1,
  },
  crane: { module: "crane", package: "github.com/google/go-containerregistry/cmd/crane", minutes: 1 },
  skopeo: {
    module: "skopeo",
    package: "github.com/containers/skopeo/cmd/skopeo",
    // Without what needs C: signatures by gpgme, and the drivers that only store images.
    tags: ["containers_image_openpgp", "exclude_graphdriver_btrfs", "exclude_graphdriver_devicemapper"],
    minutes: 2,
  },
  umoci: { module: "umoci", package: "github.com/opencontainers/umoci/cmd/umoci", minutes: 1 },
  "network-policies": { module: "network-policies", package: ".", minutes: 2 },
  helm: {
    module: "helm",
    package: "helm.sh/helm/v3/cmd/helm",
    version: {
      of: "helm.sh/helm/v3",
      variables: [
        ["helm.sh/helm/v3/internal/version.version", "whole"],
        // What a chart sees as the cluster's version where there is no cluster.
        ["helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor", "1"],
        ["helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor", "34"],
      ],
    },
    minutes: 2,
  },
} as const satisfies Record<string, ServerRecipe>;

export type ServerName = keyof typeof SERVERS;

export function isServerName(name: string): name is ServerName {
  return Object.hasOwn(SERVERS, name);
}

/** What a control plane is made of. */
export const CONTROL_PLANE_SERVERS = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kwok",
] as const satisfies readonly ServerName[];
