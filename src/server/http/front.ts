/** The front door: Fastify owns the port, and every surface is routes of it. */
import cors from '@fastify/cors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problemOf } from '../../errors.ts';
import { problemOfError } from '../../rest/endpoint/rest-errors.ts';
import { BASE_PATH } from '../../rest/openapi/openapi.ts';
import { pathOnHost } from '../../rest/operation/read-host.ts';
import { type Rest, registerRest } from '../../rest/rest.ts';
import { sendProblem } from '../../rest/send-problem.ts';
import { within } from '../../spans.ts';
import { type ConsoleParts, registerConsole } from '../console/console.ts';
import { type GraphqlParts, registerGraphql } from '../graphql/graphql-routes.ts';
import { type PageParts, registerHealth, registerPages } from '../pages.ts';
import { registerWebhooks } from '../provider-webhook.ts';
import type { ClientAddresses } from './client-address.ts';
import type { Cors } from './cors.ts';
import { createHttpServer, type HttpServer } from './http-server.ts';
import { beginRequest, refusalOf } from './request-facts.ts';
import { createSlots } from './slots.ts';
import { watchBodies } from './unfinished-bodies.ts';

export interface FrontParts extends GraphqlParts, PageParts, ConsoleParts {
  addresses: ClientAddresses;
  cors: Cors;
}

export interface Front extends HttpServer {
  /** The context of the routes under /v1. */
  rest: Rest;
}

/** Far longer than any name or id, so that validation reports names that are too long. */
const PARAM_MAX = 2_048;

export async function createFront(parts: FrontParts): Promise<Front> {
  const { services, admission, addresses } = parts;
  const { config, log, meters, tracer } = services;
  const servesApi = config.ROLES.includes('api');
  const observers = { log, meters, tracer, addresses, cors: parts.cors };
  const sendError = (error: unknown, { routeOptions }: FastifyRequest, reply: FastifyReply) =>
    sendProblem(reply, problemOfError(error, { log, route: routeOptions?.url }));
  const server = createHttpServer({
    takesSockets: servesApi,
    headMs: config.LIMIT_HEAD_MS,
    bodyLimit: config.LIMIT_BODY_BYTES,
    rewriteUrl: pathOnHost(config),
    routerOptions: { maxParamLength: PARAM_MAX },
    // No hook runs for a path that the router can't read.
    frameworkErrors(error, request, reply) {
      beginRequest(observers, request, reply);
      sendError(error, request, reply);
    },
  });
  const { app } = server;
  const slots = createSlots(services);
  app.decorateRequest('facts');
  app.addHook('onRequest', (request, reply, done) => {
    const span = beginRequest(observers, request, reply);
    const refusal = refusalOf(request);
    if (refusal) sendProblem(reply.header('connection', 'close'), refusal);
    else within(span, done);
  });
  watchBodies(app, config);
  app.setErrorHandler(sendError);
  // Routes that don't read a body leave it to the connection.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.setNotFoundHandler({ preHandler: slots.pageHook }, ({ facts }, reply) =>
    sendProblem(reply, servesApi ? nothingAt(facts.path) : IS_WORKER),
  );
  registerHealth(app, parts);
  let rest: Rest = app;
  if (servesApi) {
    app.register(
      async (scope) => {
        // What a client accepts decides on the form of its response.
        scope.addHook('onRequest', (_request, reply, done) =>
          done(void reply.header('vary', 'Accept')),
        );
        await scope.register(cors, parts.cors.options);
        scope.addHook('preHandler', slots.hook);
        registerGraphql(scope, parts);
      },
      { prefix: '/graphql' },
    );
    app.register(
      async (scope) => {
        rest = scope;
        await scope.register(cors, parts.cors.options);
        await registerRest(scope, { services, admission, takeSlot: slots.take });
      },
      { prefix: BASE_PATH },
    );
    app.register(async (scope) => registerWebhooks(scope, services, slots), {
      prefix: '/webhooks',
    });
    app.register(async (scope) => {
      scope.addHook('preHandler', slots.pageHook);
      registerPages(scope, parts);
      await registerConsole(scope, parts);
    });
  }
  await app.ready();
  return { ...server, rest };
}

const IS_WORKER = problemOf(
  'NOT_FOUND',
  'This process is a worker: it answers only /livez and /readyz. Send the request to a process with the role api.',
);

function nothingAt(path: string) {
  return problemOf('NOT_FOUND', `There is nothing at ${path}.`);
}
