/** A rule under `egress` of a NetworkPolicy, as an operator wrote it. */
export type DnsRule = Readonly<Record<string, unknown>>;

/** As kubeadm and most clusters have it. */
const KUBE_DNS: readonly DnsRule[] = [
  {
    to: [
      {
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } },
        podSelector: { matchLabels: { "k8s-app": "kube-dns" } },
      },
    ],
    ports: [
      { port: 53, protocol: "UDP" },
      { port: 53, protocol: "TCP" },
    ],
  },
];

/**
 * How pods ask the cluster's DNS. Pure.
 *
 * @param given where it is elsewhere: a cache on the node, other pods, another port; undefined = as in most clusters
 */
export function dnsRules(given: readonly DnsRule[] | undefined): readonly DnsRule[] {
  return given ?? KUBE_DNS;
}
