/** Registers the routes of REST in one Fastify context. */
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import { createScanner } from 'jsonc-parser';
import type { z } from 'zod';
import { addIssues, createInputIssue } from '../domain/base/issues.ts';
import {
  createProblem,
  DomainError,
  ERROR_STATUS,
  type Issue,
  invalid,
  invalidInput,
} from '../kernel/errors.ts';
import { parseBounded } from '../work/bounded-parse.ts';
import { findJsonExcess } from '../work/json-size.ts';
import { type Endpoint, NOT_MODIFIED } from './endpoint/endpoint.ts';
import { sendProblem, toProblem } from './endpoint/rest-errors.ts';
import { type Gateway, type RestGateway, runRequest } from './endpoint/run-request.ts';
import { decodeBody, requireDecodableQuery } from './endpoint/utf8.ts';
import { ENDPOINTS } from './endpoints.ts';
import { registerProxy } from './integrations/installation/proxy.ts';
import { registerUpload } from './integrations/integration/manifest.ts';
import {
  BASE_PATH,
  createRouteSchema,
  PROBLEM_TYPE,
  registerOpenApi,
  registerPage,
} from './openapi/openapi.ts';

export type Rest = FastifyInstance;

/** Registers the routes in a context with the prefix BASE_PATH. */
export async function registerRest(app: Rest, gateway: RestGateway): Promise<void> {
  const { services, takeSlot } = gateway;
  const { log } = services;
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler((error, request, reply) =>
    sendProblem(reply, toProblem(error, { log, route: getRoute(request) })),
  );
  refuseUnknownRoutes(app);
  registerBodyParser(app);
  // A request takes its slot only after its whole body has arrived, so that slow uploads occupy no slots.
  app.addHook('preHandler', (request, reply, done) => {
    if (takeSlot(request, reply)) done();
  });
  await registerOpenApi(app);
  for (const route of ROUTES) addRoute(app, route, gateway);
  registerProxy(app, gateway);
  await registerUpload(app, gateway);
  await registerPage(app);
}

/**
 * Compiles a validator for the whole input of an endpoint. Fastify would validate each part of a request separately,
 * before the caller is authorized, and report only the issues of the first part.
 */
const compileValidator: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (input) => {
    if (httpPart) return true;
    const { data, error } = parseBounded(schema, input);
    return error ? { error } : { value: data };
  };

/** The routes of all endpoints. All apps of a process share them. */
const ROUTES = ENDPOINTS.map((endpoint) => ({
  endpoint,
  method: endpoint.method,
  url: toRouterPath(endpoint.path),
  schema: createRouteSchema(endpoint),
}));

function addRoute(app: Rest, route: (typeof ROUTES)[number], gateway: Gateway): void {
  const { endpoint, ...options } = route;
  app.route({
    ...options,
    onRequest: requireDecodableQuery,
    async handler(request, reply) {
      const response = await runRequest(endpoint, gateway, request);
      return sendResponse(endpoint, response, request, reply);
    },
  });
}

/** Returns the body for Fastify to serialize, or sends the response itself. */
function sendResponse(
  { failure, status, output }: Endpoint,
  response: unknown,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): unknown {
  if (response === NOT_MODIFIED) return reply.code(304).send();
  if (!failure?.isFailed(response)) {
    reply.code(status);
    return output ? response : reply.send();
  }
  reply.code(ERROR_STATUS.UNPROCESSABLE);
  if (!acceptsProblems(headers.accept)) return response;
  return reply.type(PROBLEM_TYPE).serializer(JSON.stringify).send(failure.showProblem(response));
}

/** True if the header `Accept` names PROBLEM_TYPE. Wildcards do not count, because clients without support send them. */
function acceptsProblems(accept = ''): boolean {
  return accept.split(',').some((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return name === PROBLEM_TYPE && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/**
 * Converts `/projects/{id}:pause` to the router's syntax, where one colon starts a parameter and two colons are a literal
 * colon.
 */
export function toRouterPath(path: string): string {
  return path
    .replaceAll(':', '::')
    .replace(/\{(\w+)\}(?=::)/g, ':$1([^:]+)')
    .replace(/\{(\w+)\}/g, ':$1');
}

/** Returns the route for logs, because the path may contain an API key. */
function getRoute({ routeOptions }: FastifyRequest): string {
  return routeOptions?.url ?? `${BASE_PATH}/*`;
}

/** Makes request bodies uncompressed JSON. */
function registerBodyParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, readBody);
}

async function readBody({ headers }: FastifyRequest, body: string | Buffer): Promise<unknown> {
  if (headers['content-encoding']) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the body uncompressed.');
  }
  const text = decodeBody(headers, body as Buffer);
  return text === '' ? undefined : parseUnambiguousJson(text);
}

/** Needs no protection from `__proto__`: `JSON.parse` creates an ordinary member, which validation refuses. */
function parseUnambiguousJson(text: string): unknown {
  const excess = findJsonExcess(text);
  if (excess) throw invalid(['body'], excess);
  const value = parseSyntax(text);
  // A `null` would count as an empty body, which for some endpoints means "all".
  if (value === null) {
    throw invalidInput([{ in: 'body', path: [], detail: 'must be a JSON object.' }]);
  }
  const issues = listRepeatedMembers(text);
  if (issues.length > 0) throw invalidInput(issues);
  return value;
}

function parseSyntax(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DomainError('BAD_USER_INPUT', 'The body is not JSON.');
  }
}

/** An object or array that contains the scanner's position. */
interface Container {
  names: Set<string>;
  /** The name of the current member of an object, or the index of the current item of an array. */
  key: string | number;
}

/**
 * Lists members that occur twice in an object, of which `JSON.parse` silently uses the last. `text` is valid JSON. It
 * is scanned without recursion, because deep nesting would overflow the stack.
 */
function listRepeatedMembers(text: string): Issue[] {
  const issues: Issue[] = [];
  const containers: Container[] = [];
  const scanner = createScanner(text, true);
  let isName = false;
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    const token = text[scanner.getTokenOffset()];
    const inner = containers.at(-1);
    if (token === '{') containers.push({ names: new Set(), key: '' });
    else if (token === '[') containers.push({ names: new Set(), key: 0 });
    else if (token === '}' || token === ']') containers.pop();
    else if (token === ',' && typeof inner?.key === 'number') inner.key += 1;
    else if (isName && inner) {
      inner.key = scanner.getTokenValue();
      if (inner.names.has(inner.key)) {
        const path = containers.map(({ key }) => key);
        addIssues(issues, [createInputIssue(path, 'appears more than once in the object.')]);
      }
      inner.names.add(inner.key);
    }
    isName = (token === '{' || token === ',') && typeof containers.at(-1)?.key === 'string';
  }
  return issues;
}

/** The route of @fastify/cors, which matches all requests with the method OPTIONS that have no other route. */
const PREFLIGHT_ROUTE = `${BASE_PATH}*`;

const PAGE_ROUTES = ['/openapi.json', '/docs'].map((path) => ({ method: 'GET', path }));

/**
 * Adds a hook that refuses unknown paths with 404 and unsupported methods with 405, before the body is read. It responds
 * to OPTIONS with the methods of a path.
 */
function refuseUnknownRoutes(app: FastifyInstance): void {
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

const METHODS_BY_PATTERN = listMethodsByPattern([...ENDPOINTS, ...PAGE_ROUTES]);

function listMethodsByPattern(routes: readonly { method: string; path: string }[]) {
  const routesByPattern = Map.groupBy(routes, ({ path }) => toPattern(path));
  return [...routesByPattern].map(([pattern, group]) => ({
    pattern: new RegExp(pattern),
    methods: group.map(({ method }) => method),
  }));
}

/** Lists the methods of a path. Returns null if the path is unknown. */
function findMethods(path: string): string[] | null {
  const methods = METHODS_BY_PATTERN.flatMap((candidate) =>
    candidate.pattern.test(path) ? candidate.methods : [],
  );
  if (methods.length === 0) return null;
  const headMethod = methods.includes('GET') ? ['HEAD'] : [];
  return [...new Set([...methods, ...headMethod, 'OPTIONS'])].sort();
}

/** Returns the regular expression of a path. Parameters match no colon, because a colon begins a verb. */
function toPattern(path: string): string {
  const literal = `${BASE_PATH}${path}`.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return `^${literal.replace(/\{\w+\}/g, '[^/:]+')}$`;
}
