/** Routes of health checks and simple pages: the start page, problem pages, and pages of an OAuth connect. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Services } from '../domain/call.ts';
import { LINK_PATH } from '../domain/connection/oauth-connect.ts';
import { CALLBACK_PATH } from '../domain/provider/provider-app.ts';
import { PROBLEM_PAGES } from '../errors.ts';
import { VERSION } from '../version.ts';
import { oauthCallback } from './callback-page.ts';
import { connectLinkPage } from './connect-link-page.ts';
import { hasDocs } from './docs/docs.ts';
import { sendResponse } from './plain-page.ts';
import { problemPage } from './problem-page.ts';
import { type StartLinks, startPage, startResponse } from './start-page.ts';

export interface PageParts {
  services: Services;
  /** The path of the file with the demo's key. Null if there is no demo, or it is not filled yet. */
  demoFile: () => string | null;
  /** False until the server has started, and while it stops. */
  isReady: () => boolean;
}

/** Registers the health checks. They need a response even under full load, so they use no slot. */
export function registerHealth(app: FastifyInstance, { services, isReady }: PageParts): void {
  app.get('/livez', async () => ({ status: 'live', version: VERSION }));
  app.get('/readyz', async (_request, reply) => {
    const isReached = await services.database.ping().then(
      () => true,
      () => false,
    );
    const isUsable = isReached && isReady();
    return reply.code(isUsable ? 200 : 503).send({
      status: isUsable ? 'ready' : 'not ready',
      database: isReached ? 'reached' : 'not reached',
    });
  });
}

export function registerPages(app: FastifyInstance, parts: PageParts): void {
  app.get('/', (request, reply) => {
    reply.header('vary', 'Accept');
    return sendResponse(
      reply,
      startResponse(request.headers.accept, createStartLinks(parts, request)),
    );
  });
  app.get('/start', (request, reply) =>
    sendResponse(reply, startPage(createStartLinks(parts, request))),
  );
  app.get(PROBLEM_PAGES, ({ facts }, reply) => sendResponse(reply, problemPage(facts.path)));
  app.get(`${PROBLEM_PAGES}/*`, ({ facts }, reply) => sendResponse(reply, problemPage(facts.path)));
  app.all(LINK_PATH, async (request, reply) =>
    sendResponse(reply, await connectLinkPage(parts.services, toFetchRequest(request))),
  );
  app.all(CALLBACK_PATH, async (request, reply) => {
    const { slot } = request.facts;
    const services = { ...parts.services, ...(slot && { slot }) };
    return sendResponse(reply, await oauthCallback(services, toFetchRequest(request)));
  });
}

/** Converts a request for the pages of an OAuth connect. They do not read its body. */
function toFetchRequest({ method, url, headers }: FastifyRequest): Request {
  const { cookie = '', referer = '', 'sec-fetch-site': site } = headers;
  const readHeaders = {
    cookie,
    referer,
    ...(typeof site === 'string' && { 'sec-fetch-site': site }),
  };
  return new Request(`http://localhost${url}`, { method, headers: readHeaders });
}

function createStartLinks(
  { services, demoFile }: PageParts,
  { facts }: FastifyRequest,
): StartLinks {
  const { publicUrl, sandboxUrl } = services;
  return {
    url: facts.gatewayUrl ?? publicUrl(),
    sandboxUrl: sandboxUrl(),
    demoFile: demoFile(),
    hasDocs: hasDocs(),
  };
}
