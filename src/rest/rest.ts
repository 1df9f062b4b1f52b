/** Registers the REST routes under /v1 in one Fastify context. */
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { createProblem, type Problem } from '../errors.ts';
import { registerBodyParser } from './endpoint/body.ts';
import { type Endpoint, NOT_MODIFIED } from './endpoint/endpoint.ts';
import { createMethodFinder } from './endpoint/methods.ts';
import type { ValidationResult } from './endpoint/request-input.ts';
import { sendProblem, toProblem } from './endpoint/rest-errors.ts';
import { type Gateway, runRequest } from './endpoint/run-request.ts';
import { ENDPOINTS } from './endpoints.ts';
import { registerProxy } from './installation/proxy.ts';
import { registerUpload } from './integration/upload-url.ts';
import { BASE_PATH, createRouteSchema, PROBLEM_TYPE, registerOpenApi } from './openapi/openapi.ts';
import { registerPage } from './openapi/reference-page.ts';

export type Rest = FastifyInstance;

export interface RestParts extends Gateway {
  takeSlot: TakeSlot;
}

/** Assigns a slot to a request. False if the client has disconnected. Throws if the process is full. */
export type TakeSlot = (request: FastifyRequest, reply: FastifyReply) => boolean;

/** Registers the routes in a context with the prefix BASE_PATH. */
export async function registerRest(app: Rest, parts: RestParts): Promise<void> {
  const { services, takeSlot } = parts;
  const { log } = services;
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler((error, request, reply) =>
    sendProblem(reply, toProblem(error, { log, route: getRoute(request) })),
  );
  refuseUnknownRoutes(app);
  registerBodyParser(app);
  // A request gets its slot only after its body has arrived completely.
  app.addHook('preHandler', (request, reply, done) => {
    if (takeSlot(request, reply)) done();
  });
  await registerOpenApi(app);
  for (const endpoint of ENDPOINTS) addRoute(app, endpoint, parts);
  registerProxy(app, parts);
  await registerUpload(app, parts);
  app.get('/openapi.json', { schema: { hide: true } as object }, () => app.swagger());
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
    const { data, error } = schema.safeParse(input);
    return error ? { error } : { value: data };
  };

/** The route of @fastify/cors, which matches every path that no other route of the method OPTIONS matches. */
const PREFLIGHTS = `${BASE_PATH}*`;

/** Refuses unknown paths and methods before the body is read. */
function refuseUnknownRoutes(app: Rest): void {
  const findMethods = createMethodFinder(ENDPOINTS);
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, createNotFoundProblem()));
  app.addHook('onRequest', async ({ is404, method, url, routeOptions }, reply) => {
    const path = url.split('?', 1)[0] as string;
    const hasNoRoute = is404 || routeOptions.url === PREFLIGHTS;
    // If another method has such an id, the router parses a verb as part of it.
    if (!hasNoRoute && !path.includes(':')) return;
    const allowedMethods = findMethods(path);
    if (!hasNoRoute && (!allowedMethods || allowedMethods.includes(method))) return;
    if (!allowedMethods) return sendProblem(reply, createNotFoundProblem());
    reply.header('allow', allowedMethods.join(', '));
    return method === 'OPTIONS'
      ? reply.code(204).send()
      : sendProblem(reply, createMethodProblem(allowedMethods));
  });
}

function createNotFoundProblem(): Problem {
  return createProblem('NOT_FOUND', 'There is no such endpoint.');
}

function createMethodProblem(methods: readonly string[]): Problem {
  const detail = `The path accepts only the methods ${methods.join(', ')}.`;
  return createProblem('METHOD_NOT_ALLOWED', detail);
}

function addRoute(app: Rest, endpoint: Endpoint, gateway: Gateway): void {
  app.route({
    method: endpoint.method,
    url: toRouterPath(endpoint.path),
    schema: createRouteSchema(endpoint),
    async handler(request, reply) {
      const { headers, params: path, query, body } = request;
      const { 'x-api-key': apiKey, authorization } = headers;
      const response = await runRequest(endpoint, gateway, {
        credentials: { apiKey: apiKey as string | undefined, authorization },
        sender: request.metadata,
        parts: { path, query, header: pickHeaders(endpoint, headers), body },
        validate: (schema, input) => {
          // Fastify's type of the result is a boolean, whatever the compiler returns.
          const result: unknown = request.validateInput(input, schema);
          return result as ValidationResult;
        },
        url: request.url,
        knownVersions: headers['if-none-match'],
        setHeader: (name, value) => void reply.header(name, value),
      });
      if (response === NOT_MODIFIED) return reply.code(304).send();
      const { failure, status } = endpoint;
      if (failure?.isFailed(response)) {
        reply.code(failure.status);
        if (!acceptsMediaType(headers.accept, PROBLEM_TYPE)) return response;
        return reply
          .type(PROBLEM_TYPE)
          .serializer(JSON.stringify)
          .send(failure.showProblem(response));
      }
      reply.code(status);
      return endpoint.output ? response : reply.send();
    },
  });
}

/**
 * Converts `/projects/{id}:pause` to the router's syntax, where a colon starts a parameter and two colons are a
 * literal one.
 */
export function toRouterPath(path: string): string {
  return path
    .replaceAll(':', '::')
    .replace(/\{(\w+)\}(?=::)/g, ':$1([^:]+)')
    .replace(/\{(\w+)\}/g, ':$1');
}

/** Returns only the headers that the endpoint declares, because a request has many others. */
function pickHeaders({ parts }: Endpoint, headers: FastifyRequest['headers']) {
  const headerNames = Object.keys(parts.header?.shape ?? {});
  return Object.fromEntries(headerNames.map((name) => [name, headers[name]]));
}

/**
 * True if the header `Accept` names the media type. Wildcards do not count, because clients that do not support
 * problems send them too.
 */
function acceptsMediaType(accept: string | undefined, mediaType: string): boolean {
  return (accept ?? '')
    .split(',')
    .map((range) => range.trim().toLowerCase())
    .some(
      (range) => range.split(';', 1)[0]?.trim() === mediaType && !/;\s*q=0(\.0*)?\s*$/.test(range),
    );
}

/** The route for logs. The path itself may contain an API key. */
function getRoute({ routeOptions }: FastifyRequest): string {
  return routeOptions?.url ?? `${BASE_PATH}/*`;
}
