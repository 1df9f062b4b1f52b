/** The handlers of all routes, made of the parts of the app. */
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { Services } from '../domain/call.ts';
import type { OpenStreams } from '../domain/viewer/open-streams.ts';
import type { Log } from '../log.ts';
import { giveToRest } from '../rest/from-server.ts';
import type { Rest } from '../rest/rest.ts';
import { isAnyAddress } from '../setting-kinds.ts';
import { oauthCallback } from './callback-page.ts';
import { createConsole } from './console/console.ts';
import type { DemoSignIn } from './console/demo-sign-in.ts';
import { createPlainGraphql, isPlain } from './graphql/plain-graphql.ts';
import type { Yoga } from './graphql/yoga.ts';
import { createYogaGraphql } from './graphql/yoga-graphql.ts';
import { live, readiness } from './health.ts';
import { createEntrance } from './http/entrance.ts';
import { type Answer, createFetchHandler, problem } from './http/fetch-handler.ts';
import type { Handler } from './http/request-facts.ts';
import type { Handlers } from './http/routes.ts';
import { problemPage } from './problem-page.ts';
import { providerWebhook } from './provider-webhook.ts';
import { links, type Places, startPage } from './start-page.ts';

export interface HandlerParts {
  config: Config;
  log: Log;
  database: Database;
  services: Services;
  yoga: Yoga;
  streams: OpenStreams;
  rest: Rest;
  /** The demo's credentials; null if there is no demo, or not yet. */
  demo: () => DemoSignIn | null;
  /** A token of the demo's builder that expires within an hour; undefined if the issuer is not the local one. */
  mintDemoToken: () => Promise<string | undefined>;
  /** The file with the demo's key; null if there is no demo, or not yet. */
  demoFile: () => string | null;
  /** False until everything that a caller may rely on is there, and while the server stops. */
  isReady: () => boolean;
}

export function createHandlers(parts: HandlerParts): Handlers {
  const { config, log, database, services, rest, isReady } = parts;
  const entrance = createEntrance(services);
  const fetched = (answer: Answer): Handler => createFetchHandler(log, answer);
  const counted = (handler: Handler): Handler => {
    return (req, res, facts) => {
      const slot = entrance.enterPage(res, facts.address);
      if (slot) handler(req, res, { ...facts, slot });
    };
  };
  const yogaGraphql = createYogaGraphql({ ...parts, entrance });
  const pages = createConsole(parts);
  return {
    root: counted(fetched((request) => links(request, placesOf(parts, request)))),
    start: counted(fetched((request) => startPage(placesOf(parts, request)))),
    console: counted(pages.console),
    connect: counted(pages.connect),
    // Health checks need an answer even under full load: they are not counted by LIMIT_REQUESTS.
    live: fetched(live),
    ready: fetched(() => readiness(database, isReady())),
    rest: (req, res, { address, page }) => {
      const enter = () => entrance.enter(res, 'application/problem+json', address);
      giveToRest(rest, { req, res }, { address, page, enter });
    },
    isPlain: (req) => isPlain(config, req),
    plainGraphql: createPlainGraphql({ ...parts, entrance, yogaGraphql }),
    yogaGraphql: yogaGraphql.handler,
    providerWebhook: providerWebhook(services, entrance),
    oauthCallback: counted(
      fetched((request, { slot }) =>
        oauthCallback({ ...services, ...(slot && { slot }) }, request),
      ),
    ),
    problems: counted(fetched((_request, { path }) => problemPage(path))),
    nothing: counted(fetched((_request, { path }) => nothingAt(path, config))),
  };
}

/** Links use the request's host if the gateway listens on all addresses and does not know its own URL. */
function placesOf({ config, services, demoFile }: HandlerParts, request: Request): Places {
  const { publicUrl, sandboxUrl } = services;
  const isUnknown = config.PUBLIC_URL === undefined && isAnyAddress(config.HOST);
  const url = isUnknown ? new URL(request.url).origin : publicUrl();
  return { url, sandboxUrl: sandboxUrl(), demoFile: demoFile() };
}

function nothingAt(path: string, { ROLES }: Config): Response {
  const isWorker = !ROLES.includes('api');
  const words =
    'This process is a worker: it answers only /livez and /readyz. Send the request to a process with the role api.';
  return problem('NOT_FOUND', isWorker ? words : `There is nothing at ${path}.`);
}
