/** Finds the methods that a path supports, for 405 responses and for OPTIONS. */
import { BASE_PATH } from '../openapi/openapi.ts';
import type { Endpoint } from './endpoint.ts';

/** Returns the methods of a path. Null if the path is unknown. */
type AllowedMethods = (path: string) => string[] | null;

const PAGES = ['/openapi.json', '/docs'].map((path) => ({ method: 'GET', path }));

export function createMethodFinder(endpoints: readonly Endpoint[]): AllowedMethods {
  const groups = Map.groupBy([...endpoints, ...PAGES], ({ path }) => toPattern(path));
  const paths = [...groups].map(([pattern, group]) => ({
    pattern: new RegExp(pattern),
    methods: group.map(({ method }) => method as string),
  }));
  return (path) => {
    const methods = paths.flatMap((candidate) =>
      candidate.pattern.test(path) ? candidate.methods : [],
    );
    if (methods.length === 0) return null;
    const headMethod = methods.includes('GET') ? ['HEAD'] : [];
    return [...new Set([...methods, ...headMethod, 'OPTIONS'])].sort();
  };
}

/** Returns the regular expression of a path. Parameters match no colon, because it begins the verb of another path. */
function toPattern(path: string): string {
  const literal = `${BASE_PATH}${path}`.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return `^${literal.replace(/\{\w+\}/g, '[^/:]+')}$`;
}
