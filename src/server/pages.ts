/** Small routes: health, the start page, pages about problems, and the pages of an OAuth connect. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Services } from '../domain/call.ts';
import { CALLBACK_PATH, LINK_PATH } from '../domain/connection/oauth-connect.ts';
import { PROBLEM_PAGES } from '../errors.ts';
import { VERSION } from '../version.ts';
import { oauthCallback } from './callback-page.ts';
import { connectLinkPage } from './connect-link-page.ts';
import { hasDocs } from './docs/docs.ts';
import { sendResponse } from './plain-page.ts';
import { problemPage } from './problem-page.ts';
import { links, type Places, startPage } from './start-page.ts';

export interface PageParts {
  services: Services;
  /** The file with the demo's key; null if there is no demo, or not yet. */
  demoFile: () => string | null;
  /** False until the server is ready, and while it stops. */
  isReady: () => boolean;
}

/** Health checks need a response even under full load, so they take no slot. */
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
    return sendResponse(reply, links(request.headers.accept, placesOf(parts, request)));
  });
  app.get('/start', (request, reply) => sendResponse(reply, startPage(placesOf(parts, request))));
  app.get(PROBLEM_PAGES, ({ facts }, reply) => sendResponse(reply, problemPage(facts.path)));
  app.get(`${PROBLEM_PAGES}/*`, ({ facts }, reply) => sendResponse(reply, problemPage(facts.path)));
  app.all(LINK_PATH, async (request, reply) =>
    sendResponse(reply, await connectLinkPage(parts.services, toFetch(request))),
  );
  app.all(CALLBACK_PATH, async (request, reply) => {
    const { slot } = request.facts;
    const services = { ...parts.services, ...(slot && { slot }) };
    return sendResponse(reply, await oauthCallback(services, toFetch(request)));
  });
}

/** The request without its body, in the form that the pages of an OAuth connect read. */
function toFetch({ method, url, headers }: FastifyRequest): Request {
  const { cookie = '', referer = '', 'sec-fetch-site': site } = headers;
  const readHeaders = {
    cookie,
    referer,
    ...(typeof site === 'string' && { 'sec-fetch-site': site }),
  };
  return new Request(`http://localhost${url}`, { method, headers: readHeaders });
}

function placesOf({ services, demoFile }: PageParts, { facts }: FastifyRequest): Places {
  const { publicUrl, sandboxUrl } = services;
  return {
    url: facts.gatewayUrl ?? publicUrl(),
    sandboxUrl: sandboxUrl(),
    demoFile: demoFile(),
    hasDocs: hasDocs(),
  };
}
