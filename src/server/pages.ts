/** Registers health checks and simple pages: the start page, problem pages, and the pages of an OAuth connect. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Services } from '../domain/call.ts';
import { LINK_PATH } from '../domain/connection/oauth-connect.ts';
import { CALLBACK_PATH } from '../domain/provider/provider-app.ts';
import { PROBLEMS_PATH } from '../errors.ts';
import { VERSION } from '../version.ts';
import { respondToCallback } from './callback-page.ts';
import { respondToConnectLink } from './connect-link-page.ts';
import { hasDocs } from './docs/docs.ts';
import { getGatewayUrl } from './http/gateway-url.ts';
import { sendResponse } from './plain-page.ts';
import { createProblemPage } from './problem-page.ts';
import { createRootResponse, createStartPage, type StartLinks } from './start-page.ts';

export interface PageParts {
  services: Services;
  /** The path of the file with the demo's key. Null if there is no demo, or if it is not filled yet. */
  demoFile: () => string | null;
  /** False until the server has started, and while it stops. */
  isReady: () => boolean;
}

/** Registers the health checks. They use no slot, because they must respond under full load. */
export function registerHealth(app: FastifyInstance, { services, isReady }: PageParts): void {
  app.get('/livez', async () => ({ status: 'live', version: VERSION }));
  app.get('/readyz', async (_request, reply) => {
    const isDatabaseReached = await services.database.ping().then(
      () => true,
      () => false,
    );
    const canServe = isDatabaseReached && isReady();
    return reply.code(canServe ? 200 : 503).send({
      status: canServe ? 'ready' : 'not ready',
      database: isDatabaseReached ? 'reached' : 'not reached',
    });
  });
}

export function registerPages(app: FastifyInstance, parts: PageParts): void {
  app.get('/', (request, reply) => {
    reply.header('vary', 'Accept');
    return sendResponse(
      reply,
      createRootResponse(request.headers.accept, createStartLinks(parts, request)),
    );
  });
  app.get('/start', (request, reply) =>
    sendResponse(reply, createStartPage(createStartLinks(parts, request))),
  );
  for (const path of [PROBLEMS_PATH, `${PROBLEMS_PATH}/*`]) {
    app.get(path, ({ metadata }, reply) => sendResponse(reply, createProblemPage(metadata.path)));
  }
  app.all(LINK_PATH, async (request, reply) =>
    sendResponse(reply, await respondToConnectLink(parts.services, request)),
  );
  app.all(CALLBACK_PATH, async (request, reply) => {
    const { slot } = request.metadata;
    const services = { ...parts.services, ...(slot && { slot }) };
    return sendResponse(reply, await respondToCallback(services, request));
  });
}

function createStartLinks({ services, demoFile }: PageParts, request: FastifyRequest): StartLinks {
  return {
    url: getGatewayUrl(services, request),
    sandboxUrl: services.sandboxUrl(),
    demoFile: demoFile(),
    hasDocs: hasDocs(),
  };
}
