const since = new Date();
const visits = new Map();

/** Counts visits by path: /fn/default/visits/any/page */
export function handle(_event, context) {
  const { path } = context.request;
  visits.set(path, (visits.get(path) ?? 0) + 1);
  return { path, visits: visits.get(path), pages: visits.size, since };
}
