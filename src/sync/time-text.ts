/** RFC 3339 with whole seconds, as Kubernetes writes times. */
export function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
