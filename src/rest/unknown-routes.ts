/** Refuses unknown paths with 404 and unsupported methods with 405. Responds to OPTIONS with the methods of a path. */
import type { FastifyInstance } from 'fastify';
import { createProblem } from '../errors.ts';
import type { Endpoint } from './endpoint/endpoint.ts';
import { sendProblem } from './endpoint/rest-errors.ts';
import { BASE_PATH } from './openapi/openapi.ts';

/** The route of @fastify/cors, which matches all requests with the method OPTIONS that have no other route. */
const PREFLIGHT_ROUTE = `${BASE_PATH}*`;

const PAGE_ROUTES = ['/openapi.json', '/docs'].map((path) => ({ method: 'GET', path }));

/** Adds a hook that refuses a request before its body is read. */
export function refuseUnknownRoutes(app: FastifyInstance, endpoints: readonly Endpoint[]): void {
  const findMethods = createMethodFinder([...endpoints, ...PAGE_ROUTES]);
  const notFound = () => createProblem('NOT_FOUND', 'There is no such endpoint.');
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, notFound()));
  app.addHook('onRequest', async ({ is404, method, url, routeOptions }, reply) => {
    const path = url.split('?', 1)[0] as string;
    const hasNoRoute = is404 || routeOptions.url === PREFLIGHT_ROUTE;
    // A path with a verb, like `/deliveries:retry`, may match a parameter in the route of another method.
    if (!hasNoRoute && !path.includes(':')) return;
    const methods = findMethods(path);
    if (!hasNoRoute && (!methods || methods.includes(method))) return;
    if (!methods) return sendProblem(reply, notFound());
    const allow = methods.join(', ');
    reply.header('allow', allow);
    if (method === 'OPTIONS') return reply.code(204).send();
    const detail = `The path accepts only the methods ${allow}.`;
    return sendProblem(reply, createProblem('METHOD_NOT_ALLOWED', detail));
  });
}

/** Returns a function that lists the methods of a path. It returns null if the path is unknown. */
function createMethodFinder(
  routes: readonly { method: string; path: string }[],
): (path: string) => string[] | null {
  const routesByPattern = Map.groupBy(routes, ({ path }) => toPattern(path));
  const paths = [...routesByPattern].map(([pattern, group]) => ({
    pattern: new RegExp(pattern),
    methods: group.map(({ method }) => method),
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

/** Returns the regular expression of a path. Parameters match no colon, because a colon begins a verb. */
function toPattern(path: string): string {
  const literal = `${BASE_PATH}${path}`.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return `^${literal.replace(/\{\w+\}/g, '[^/:]+')}$`;
}
