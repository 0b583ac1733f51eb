/** Reasons for which a container waits while its image cannot be pulled (kubelet, pkg/kubelet/images/types.go). */
export const PULL_REASONS = [
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "ImageInspectError",
  "RegistryUnavailable",
];
