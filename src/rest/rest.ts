/** Registers the REST routes under /v1 in one Fastify context. */
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { registerBodyParser } from './endpoint/body.ts';
import { type Endpoint, NOT_MODIFIED } from './endpoint/endpoint.ts';
import type { ValidationResult } from './endpoint/request-input.ts';
import { sendProblem, toProblem } from './endpoint/rest-errors.ts';
import { type Gateway, type ReceivedRequest, runRequest } from './endpoint/run-request.ts';
import { ENDPOINTS } from './endpoints.ts';
import { registerProxy } from './installation/proxy.ts';
import { registerUpload } from './integration/upload-url.ts';
import { BASE_PATH, createRouteSchema, PROBLEM_TYPE, registerOpenApi } from './openapi/openapi.ts';
import { registerPage } from './openapi/reference-page.ts';
import { refuseUnknownRoutes } from './unknown-routes.ts';

export type Rest = FastifyInstance;

export interface RestGateway extends Gateway {
  takeSlot: TakeSlot;
}

/** Assigns a slot to a request. False if the client has disconnected. Throws if the process is full. */
export type TakeSlot = (request: FastifyRequest, reply: FastifyReply) => boolean;

/** Registers the routes in a context with the prefix BASE_PATH. */
export async function registerRest(app: Rest, gateway: RestGateway): Promise<void> {
  const { services, takeSlot } = gateway;
  const { log } = services;
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler((error, request, reply) =>
    sendProblem(reply, toProblem(error, { log, route: getRoute(request) })),
  );
  refuseUnknownRoutes(app, ENDPOINTS);
  registerBodyParser(app);
  // A request gets its slot only after its body has arrived completely.
  app.addHook('preHandler', (request, reply, done) => {
    if (takeSlot(request, reply)) done();
  });
  await registerOpenApi(app);
  for (const endpoint of ENDPOINTS) addRoute(app, endpoint, gateway);
  registerProxy(app, gateway);
  await registerUpload(app, gateway);
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

function addRoute(app: Rest, endpoint: Endpoint, gateway: Gateway): void {
  app.route({
    method: endpoint.method,
    url: toRouterPath(endpoint.path),
    schema: createRouteSchema(endpoint),
    async handler(request, reply) {
      const received = toReceivedRequest(endpoint, request, reply);
      const response = await runRequest(endpoint, gateway, received);
      return sendResponse(endpoint, response, request, reply);
    },
  });
}

function toReceivedRequest(
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): ReceivedRequest {
  const { headers, params: path, query, body } = request;
  const { 'x-api-key': apiKey, authorization } = headers;
  return {
    credentials: { apiKey: apiKey as string | undefined, authorization },
    sender: request.metadata,
    parts: { path, query, header: pickHeaders(endpoint, headers), body },
    validate(schema, input) {
      // Fastify's type of the result is a boolean, whatever the compiler returns.
      const result: unknown = request.validateInput(input, schema);
      return result as ValidationResult;
    },
    url: request.url,
    knownVersions: headers['if-none-match'],
    setHeader: (name, value) => void reply.header(name, value),
  };
}

/** Returns only the headers that the endpoint declares, because a request has many others. */
function pickHeaders({ partSchemas }: Endpoint, headers: FastifyRequest['headers']) {
  const names = Object.keys(partSchemas.header?.shape ?? {});
  return Object.fromEntries(names.map((name) => [name, headers[name]]));
}

/** Returns the body for Fastify to serialize, unless it has sent the response. */
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
  reply.code(failure.status);
  if (!acceptsMediaType(headers.accept, PROBLEM_TYPE)) return response;
  return reply.type(PROBLEM_TYPE).serializer(JSON.stringify).send(failure.showProblem(response));
}

/**
 * True if the header `Accept` names the media type. Wildcards do not count, because clients that do not support
 * problems send them too.
 */
function acceptsMediaType(accept = '', mediaType: string): boolean {
  return accept.split(',').some((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return name === mediaType && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
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

/** The route for logs. The path itself may contain an API key. */
function getRoute({ routeOptions }: FastifyRequest): string {
  return routeOptions?.url ?? `${BASE_PATH}/*`;
}
