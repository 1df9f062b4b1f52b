/** Registers health checks and simple pages: the start page, problem pages, and the pages of an OAuth connect. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Services } from '../domain/call.ts';
import { PROBLEMS_PATH } from '../errors.ts';
import { VERSION } from '../version.ts';
import { registerCallback } from './callback-page.ts';
import { registerConnectLink } from './connect-link-page.ts';
import { hasDocs } from './docs/docs.ts';
import { getGatewayUrl } from './http/gateway-url.ts';
import { prepareOAuthPages } from './oauth-page.ts';
import { sendProblemPage } from './problem-page.ts';
import { type StartLinks, sendRoot, sendStartPage } from './start-page.ts';

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
  const { services } = parts;
  app.get('/', (request, reply) => sendRoot(reply, createStartLinks(parts, request)));
  app.get('/start', (request, reply) => sendStartPage(reply, createStartLinks(parts, request)));
  for (const path of [PROBLEMS_PATH, `${PROBLEMS_PATH}/*`]) {
    app.get(path, ({ metadata }, reply) => sendProblemPage(reply, metadata.path));
  }
  app.register(async (scope) => {
    prepareOAuthPages(scope, services);
    registerConnectLink(scope, services);
    registerCallback(scope, services);
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
