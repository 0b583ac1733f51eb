/** Ports of a NetworkPolicy for a node that serves the API on 6443: all but that one and those of the cluster's own parts. */
export const BESIDE_API_PORTS = [
  { protocol: "TCP", port: 1, endPort: 2378 },
  { protocol: "TCP", port: 2381, endPort: 6442 },
  { protocol: "TCP", port: 6444, endPort: 10_247 },
  { protocol: "TCP", port: 10_251, endPort: 10_254 },
  { protocol: "TCP", port: 10_258, endPort: 10_258 },
  { protocol: "TCP", port: 10_260, endPort: 65_535 },
  { protocol: "UDP", port: 1, endPort: 65_535 },
];
