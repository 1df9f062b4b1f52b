/** REST under /v1: Fastify with this gateway's rules. It owns no port; `routing` takes the server's requests. */
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchemaCompiler,
} from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { Services } from '../domain/call.ts';
import type { Admission } from '../domain/viewer/admission.ts';
import { type Problem, problemOf } from '../errors.ts';
import { readBody } from './endpoint/body.ts';
import type { Endpoint } from './endpoint/endpoint.ts';
import { allowedMethods } from './endpoint/methods.ts';
import { type Gateway, perform } from './endpoint/perform.ts';
import type { Validated } from './endpoint/request-input.ts';
import { headersOf, problemOfError } from './endpoint/rest-errors.ts';
import { ENDPOINTS } from './endpoints.ts';
import { fromServer, keepTraces, takeSlots } from './from-server.ts';
import { registerProxy } from './installation/proxy.ts';
import { registerUpload } from './integration/upload-url.ts';
import { BASE_PATH, PROBLEM_TYPE, registerDocument, schemaOf } from './openapi/openapi.ts';
import { registerPage } from './openapi/reference-page.ts';
import { pathOnHost } from './operation/read-host.ts';

export type Rest = FastifyInstance;

/** Far longer than any name or id, so that validation reports names that are too long. */
const PARAM_MAX = 2_048;

export async function createRest(services: Services, admission: Admission): Promise<Rest> {
  const { config } = services;
  const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
    sendProblem(reply, problemOfError(error, { log: services.log, route: routeOf(request) }));
  const app: Rest = fastify({
    logger: false,
    bodyLimit: config.LIMIT_BODY_BYTES,
    rewriteUrl: pathOnHost(config),
    routerOptions: { maxParamLength: PARAM_MAX },
    frameworkErrors: answerError,
  });
  app.setValidatorCompiler(validateWhole);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(answerError);
  answerUnknown(app);
  readBody(app);
  if (services.tracer) keepTraces(app);
  takeSlots(app);
  await registerDocument(app);
  for (const endpoint of ENDPOINTS) addRoute(app, endpoint, { services, admission });
  registerProxy(app, { services, admission });
  await registerUpload(app, { services, admission });
  app.get(`${BASE_PATH}/openapi.json`, { schema: { hide: true } as object }, () => app.swagger());
  await registerPage(app);
  await app.ready();
  return app;
}

/**
 * Compiles a validator for the whole input of an endpoint. Fastify would validate each part of a request by itself,
 * before the caller is authorized, and report the issues of the first part only.
 */
const validateWhole: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (given) => {
    if (httpPart) return true;
    const { data, error } = schema.safeParse(given);
    return error ? { error } : { value: data };
  };

/** Before the body is read, which may be anything. */
function answerUnknown(app: Rest): void {
  const methodsOf = allowedMethods(ENDPOINTS);
  app.addHook('onRequest', async ({ is404, method, url }, reply) => {
    const path = url.split('?', 1)[0] as string;
    // If another method has such an id, the router takes a verb for a part of it.
    if (!is404 && !path.includes(':')) return;
    const allowed = methodsOf(path);
    if (!is404 && (!allowed || allowed.includes(method))) return;
    if (!allowed) return sendProblem(reply, NOWHERE);
    reply.header('allow', allowed.join(', '));
    return method === 'OPTIONS' ? reply.code(204).send() : sendProblem(reply, WRONG_METHOD);
  });
}

const NOWHERE = problemOf('NOT_FOUND', 'There is no such endpoint.');
const WRONG_METHOD = problemOf('BAD_USER_INPUT', 'The path does not take this method.', {
  status: 405,
});

function addRoute(app: Rest, endpoint: Endpoint, gateway: Gateway): void {
  app.route({
    method: endpoint.method,
    url: routerPath(endpoint.path),
    schema: schemaOf(endpoint),
    async handler(request, reply) {
      const { headers, params: path, query, body } = request;
      const { 'x-api-key': apiKey, authorization } = headers;
      const shown = await perform(endpoint, gateway, {
        credentials: { apiKey: apiKey as string | undefined, authorization },
        sender: fromServer(request),
        parts: { path, query, header: headersFor(endpoint, headers), body },
        validate: (schema, given) => {
          // Fastify's type of the result is a boolean, whatever the compiler returns.
          const validated: unknown = request.validateInput(given, schema);
          return validated as Validated;
        },
        url: request.url,
        setHeader: (name, value) => void reply.header(name, value),
      });
      const { failure, status } = endpoint;
      if (failure?.isFailed(shown)) {
        reply.code(failure.status);
        if (!accepts(headers.accept, PROBLEM_TYPE)) return shown;
        return reply.type(PROBLEM_TYPE).serializer(JSON.stringify).send(failure.showProblem(shown));
      }
      reply.code(status);
      return endpoint.output ? shown : reply.send();
    },
  });
}

/** `/projects/{id}:pause` in the router's words, where a colon begins a parameter and two are one. */
export function routerPath(path: string): string {
  return `${BASE_PATH}${path.replaceAll(':', '::').replace(/\{(\w+)\}(?=::)/g, ':$1([^:]+)')}`.replace(
    /\{(\w+)\}/g,
    ':$1',
  );
}

/** Only the headers that the endpoint declares: a request has many others. */
function headersFor({ parts }: Endpoint, headers: FastifyRequest['headers']) {
  const known = Object.keys(parts.header?.shape ?? {});
  return Object.fromEntries(known.map((name) => [name, headers[name]]));
}

/** Whether the header `Accept` names the media type. Wildcards do not count: clients that know no problems send them too. */
function accepts(accept: string | undefined, mediaType: string): boolean {
  return (accept ?? '')
    .split(',')
    .map((range) => range.trim().toLowerCase())
    .some(
      (range) => range.split(';', 1)[0]?.trim() === mediaType && !/;\s*q=0(\.0*)?\s*$/.test(range),
    );
}

function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  return (
    reply
      .code(problem.status)
      .headers(headersOf(problem))
      .type(PROBLEM_TYPE)
      // Otherwise the router would add a charset, which the type has no parameter for.
      .serializer(JSON.stringify)
      .send(problem)
  );
}

/** For logs: the route and not the path, which may hold an API key. */
function routeOf({ routeOptions }: FastifyRequest): string {
  return routeOptions?.url ?? `${BASE_PATH}/*`;
}
