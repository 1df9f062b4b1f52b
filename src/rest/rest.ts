/** Registers the routes of REST in one Fastify context. */
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { ERROR_STATUS } from '../errors.ts';
import { registerBodyParser } from './endpoint/body.ts';
import { type Endpoint, NOT_MODIFIED } from './endpoint/endpoint.ts';
import { sendProblem, toProblem } from './endpoint/rest-errors.ts';
import { type Gateway, runRequest } from './endpoint/run-request.ts';
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
  // A request takes its slot only after its whole body has arrived, so that slow uploads occupy no slots.
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
  if (!acceptsMediaType(headers.accept, PROBLEM_TYPE)) return response;
  return reply.type(PROBLEM_TYPE).serializer(JSON.stringify).send(failure.showProblem(response));
}

/**
 * True if the header `Accept` names the media type. Wildcards do not count, because clients without support send them.
 */
function acceptsMediaType(accept = '', mediaType: string): boolean {
  return accept.split(',').some((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return name === mediaType && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
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
