/** The HTTP front end. Fastify owns the port, and each surface registers its routes. */
import cors from '@fastify/cors';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  preHandlerHookHandler,
} from 'fastify';
import type { Services } from '../../domain/access/call.ts';
import { toNetwork } from '../../domain/access/viewer/network.ts';
import { RequestSlot } from '../../domain/access/viewer/share/request-slot.ts';
import { createProblem } from '../../kernel/errors.ts';
import { runInContext } from '../../kernel/spans.ts';
import { createUrlRewriter } from '../../rest/endpoint/reference-hosts.ts';
import { sendProblem, toProblem } from '../../rest/endpoint/rest-errors.ts';
import type { TakeSlot } from '../../rest/endpoint/run-request.ts';
import { BASE_PATH } from '../../rest/openapi/openapi.ts';
import { type Rest, registerRest } from '../../rest/rest.ts';
import type { Config } from '../../settings/config.ts';
import { type ConsoleParts, registerConsole } from '../console/console.ts';
import { buildIfStale } from '../console/console-build.ts';
import { registerDocs } from '../docs/docs.ts';
import { type GraphqlParts, registerGraphql } from '../graphql/graphql-routes.ts';
import { registerMcp } from '../mcp/mcp-routes.ts';
import { METADATA_PATH, registerResourceMetadata } from '../mcp/resource-metadata.ts';
import { type PageParts, registerHealth, registerPages } from '../pages.ts';
import { registerWebhooks } from '../provider-webhook.ts';
import { registerSignIn } from '../sign-in/sign-in-routes.ts';
import { createHttpServer, type HttpServer } from './http-server.ts';
import type { ClientReaders } from './request-client.ts';
import { beginRequest, findRefusal } from './request-metadata.ts';
import { createBodyWatch } from './unfinished.ts';

type FrontEndParts = Omit<GraphqlParts & PageParts & ConsoleParts & ClientReaders, 'buildConsole'>;

export interface HttpFrontEnd extends HttpServer {
  /** The context of the routes under /v1. */
  rest: Rest;
}

/** Much longer than any name or id, so that the validation of inputs, and not the router, refuses longer ones. */
const PARAM_LENGTH_MAX = 2_048;
const NOT_FOUND_AT_WORKER =
  'This process is a worker: it serves only /livez and /readyz. Send the request to a process with the role api.';

export async function createHttpFrontEnd(parts: FrontEndParts): Promise<HttpFrontEnd> {
  const { services, admission } = parts;
  const { config } = services;
  const server = openServer(parts);
  const { app } = server;
  const slots = createSlots(services);
  // Routes that do not read a body leave it on the connection.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.setNotFoundHandler({ preHandler: slots.pageHook }, ({ metadata }, reply) => {
    const detail = hasApiRole(config)
      ? `There is nothing at ${metadata.path}.`
      : NOT_FOUND_AT_WORKER;
    return sendProblem(reply, createProblem('NOT_FOUND', detail));
  });
  registerHealth(app, parts);
  let rest: Rest = app;
  if (hasApiRole(config)) {
    const restScope = async (scope: FastifyInstance) => {
      rest = scope;
      await scope.register(cors, parts.cors.options);
      await registerRest(scope, { services, admission, takeSlot: slots.take });
    };
    app.register(restScope, { prefix: BASE_PATH });
    registerSurfaces(app, parts, slots);
  }
  await app.ready();
  return { ...server, rest };
}

/** Opens the server with the hooks that every request passes. */
function openServer({ services, readClient }: FrontEndParts): HttpServer {
  const { config, log } = services;
  const observers = { ...services, readClient };
  const watchBody = createBodyWatch(config);
  const sendError = (error: unknown, { routeOptions }: FastifyRequest, reply: FastifyReply) =>
    sendProblem(reply, toProblem(error, { log, route: routeOptions?.url }));
  const server = createHttpServer({
    takesSockets: hasApiRole(config),
    headMs: config.LIMIT_HEAD_MS,
    bodyLimit: config.LIMIT_BODY_BYTES,
    rewriteUrl: createUrlRewriter(config),
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    // Fastify runs no hooks for a path that its router can't parse.
    frameworkErrors(error, request, reply) {
      beginRequest(observers, request, reply);
      sendError(error, request, reply);
    },
  });
  server.app.setErrorHandler(sendError);
  server.app.decorateRequest('metadata');
  server.app.addHook('onRequest', (request, reply, done) => {
    const traceContext = beginRequest(observers, request, reply);
    const refusal = findRefusal(request);
    if (refusal) return void sendProblem(reply.header('connection', 'close'), refusal);
    watchBody(request, reply);
    runInContext(traceContext, done);
  });
  return server;
}

/** Registers each surface in its own context, with its own hooks, body parsers and form of errors. */
function registerSurfaces(app: FastifyInstance, front: FrontEndParts, slots: Slots): void {
  const { services } = front;
  let building: Promise<void> | undefined;
  const buildConsole = () => {
    building ??= buildIfStale(services.log);
    return building;
  };
  const parts = { ...front, buildConsole };
  const register = (rules: SurfaceRules, addRoutes: AddRoutes) =>
    void app.register(
      async (scope) => {
        if (rules.onRequest) scope.addHook('onRequest', rules.onRequest);
        if (rules.allowsOrigins) await scope.register(cors, parts.cors.options);
        scope.addHook('preHandler', rules.slotHook);
        await addRoutes(scope);
      },
      { prefix: rules.prefix },
    );
  const apiRules = { slotHook: slots.hook, allowsOrigins: true };
  const pageRules = { slotHook: slots.pageHook };
  register({ ...apiRules, prefix: '/graphql', onRequest: varyByAccept }, (scope) =>
    registerGraphql(scope, parts),
  );
  register({ ...apiRules, prefix: '/mcp' }, (scope) => registerMcp(scope, parts));
  register({ ...pageRules, prefix: METADATA_PATH, allowsOrigins: true }, (scope) =>
    registerResourceMetadata(scope, services),
  );
  register({ slotHook: slots.hook, prefix: '/webhooks' }, (scope) =>
    registerWebhooks(scope, services),
  );
  register({ ...pageRules, prefix: '/docs' }, (scope) => registerDocs(scope));
  register(pageRules, (scope) => registerSignIn(scope, parts));
  register(pageRules, async (scope) => {
    registerPages(scope, parts);
    await registerConsole(scope, parts);
  });
}

interface SurfaceRules {
  prefix?: string;
  /** Runs before the hooks of CORS, which append to the header `Vary`. */
  onRequest?: onRequestHookHandler;
  /** True if pages of other origins may read the responses. */
  allowsOrigins?: boolean;
  slotHook: preHandlerHookHandler;
}

type AddRoutes = (scope: FastifyInstance) => void | Promise<void>;

/** The form of a GraphQL response depends on the header `Accept`. */
const varyByAccept: onRequestHookHandler = (_request, reply, done) => {
  reply.header('vary', 'Accept');
  done();
};

export function hasApiRole({ ROLES }: Config): boolean {
  return ROLES.includes('api');
}

interface Slots {
  take: TakeSlot;
  /** Takes a slot before the handler of a route runs. */
  hook: preHandlerHookHandler;
  /** Like `hook`, for pages. It counts requests by network, because visitors of pages have no credentials. */
  pageHook: preHandlerHookHandler;
}

function createSlots({ shares, meters }: Pick<Services, 'shares' | 'meters'>): Slots {
  const take: TakeSlot = ({ metadata }, reply) => {
    const { raw: res } = reply;
    // The client has disconnected, or an incomplete request has been refused.
    if (res.destroyed || res.writableEnded) {
      reply.hijack();
      return false;
    }
    const slot = new RequestSlot(shares, meters);
    const refusal = slot.countArrival(toNetwork(metadata.address));
    if (refusal) throw refusal;
    metadata.slot = slot;
    return true;
  };
  return {
    take,
    hook(request, reply, done) {
      if (take(request, reply)) done();
    },
    pageHook(request, reply, done) {
      if (!take(request, reply)) return;
      request.metadata.slot?.countByNetwork();
      done();
    },
  };
}
