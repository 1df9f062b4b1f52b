/** Which request goes to which handler. */
import type { IncomingMessage } from 'node:http';
import { PROBLEM_PAGES } from '../../errors.ts';
import type { Handler, RequestFacts } from './request-facts.ts';

export interface Route {
  /** `/x` is that path alone, `/x/*` is `/x` and everything below it. */
  path: string;
  /** Which requests of that path; default: all. */
  takes?: ((req: IncomingMessage, facts: RequestFacts) => boolean) | undefined;
  /** Whether pages of other origins may call it, as far as cors.ts lets them. */
  isForPages?: boolean;
  /** The header of requests on which its answers depend. */
  vary?: string;
  handler: Handler;
}

export interface Handlers {
  /** Leads people to the console, and programs to everything. */
  root: Handler;
  /** The start page, which links to everything else. */
  start: Handler;
  console: Handler;
  /** The page on which end users connect, and the script that embeds it. */
  connect: Handler;
  live: Handler;
  ready: Handler;
  rest: Handler;
  /** Whether plainGraphql can answer it. */
  isPlain: (req: IncomingMessage, facts: RequestFacts) => boolean;
  plainGraphql: Handler;
  /** Answers every request for GraphQL, and costs more than plainGraphql. */
  yogaGraphql: Handler;
  oauthCallback: Handler;
  /** What problems of each type mean. */
  problems: Handler;
  /** Events of providers. */
  providerWebhook: Handler;
  /** Answers 404. */
  nothing: Handler;
}

const GRAPHQL = { isForPages: true, vary: 'Accept' };

const isRead = ({ method }: IncomingMessage) => method === 'GET' || method === 'HEAD';

/** The first route that takes a request answers it. */
export function routesOf(handlers: Handlers): Route[] {
  const { isPlain } = handlers;
  return [
    { path: '/', handler: handlers.root, takes: isRead, vary: 'Accept' },
    { path: '/start', handler: handlers.start, takes: isRead },
    { path: '/console/*', handler: handlers.console, takes: isRead },
    { path: '/connect', handler: handlers.connect, takes: isRead },
    { path: '/connect.js', handler: handlers.connect, takes: isRead },
    { path: '/livez', handler: handlers.live },
    { path: '/readyz', handler: handlers.ready },
    { path: '/graphql', handler: handlers.plainGraphql, takes: isPlain, ...GRAPHQL },
    { path: '/graphql', handler: handlers.yogaGraphql, ...GRAPHQL },
    { path: '/v1/*', handler: handlers.rest, isForPages: true },
    { path: '/oauth/callback', handler: handlers.oauthCallback },
    { path: `${PROBLEM_PAGES}/*`, handler: handlers.problems, takes: isRead },
    { path: '/webhooks/*', handler: handlers.providerWebhook },
    { path: '/*', handler: handlers.nothing },
  ];
}

/** A process that is only a worker answers health checks and nothing else. */
export function workerRoutesOf({ live, ready, nothing }: Handlers): Route[] {
  return [
    { path: '/livez', handler: live },
    { path: '/readyz', handler: ready },
    { path: '/*', handler: nothing },
  ];
}
