/** Where providers send their events: `/webhooks/{provider}/{providerAppId}`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Services } from '../domain/call.ts';
import {
  type Receipt,
  receiveEvents,
  type WebhookAnswer,
} from '../domain/provider-event/receive-events.ts';
import { maskedError, type Problem, problemOf, ServiceUnavailable } from '../errors.ts';
import { EVENT_BODY_BYTES_MAX } from '../limit-settings.ts';
import type { Entrance } from './http/entrance.ts';
import { type Body, readBody } from './http/request-body.ts';
import type { Handler, RequestFacts } from './http/request-facts.ts';

const PATH = /^\/webhooks\/([\w.-]{1,64})\/(app_[0-9a-z]{26})$/;

/** A request is counted by LIMIT_REQUESTS once its body has come. */
export function providerWebhook(services: Services, entrance: Entrance): Handler {
  return (req, res, facts) => {
    const [, provider, providerAppId] = PATH.exec(facts.path) ?? [];
    if (provider === undefined || providerAppId === undefined) return refuse(res, NOWHERE);
    if (req.method !== 'POST') {
      res.setHeader('allow', 'POST');
      return refuse(res, { ...NOWHERE, status: 405, detail: 'Send events by POST.' });
    }
    const refuseForm = (outcome: 'COMPRESSED' | 'TOO_LARGE', problem: Problem) => {
      services.meters.providerEventReceived({ provider: nameOf(services, provider), outcome });
      refuse(res, problem);
    };
    if (req.headers['content-encoding'] !== undefined) return refuseForm('COMPRESSED', COMPRESSED);
    readBody(req, EVENT_BODY_BYTES_MAX, (body) => {
      if (!entrance.enter(res, 'application/problem+json', facts.address)) return;
      if (body === null) return refuseForm('TOO_LARGE', TOO_LARGE);
      void take(services, { req, res, facts, body, to: { provider, providerAppId } });
    });
  };
}

interface Sent {
  req: IncomingMessage;
  res: ServerResponse;
  facts: RequestFacts;
  body: Body;
  to: { provider: string; providerAppId: string };
}

async function take(services: Services, { req, res, facts, body, to }: Sent): Promise<void> {
  const { method = 'POST', url = '', headers } = req;
  const request = { method, url: `${services.publicUrl()}${url}`, headers, body };
  try {
    const { receipt, stored, answer, waitSeconds } = await receiveEvents(services, to, request);
    const provider = nameOf(services, to.provider);
    services.meters.providerEventReceived({ provider, outcome: receipt });
    services.meters.providerEventsMoved({ provider, outcome: 'stored', count: stored });
    services.log.info(
      { requestId: facts.requestId, ...to, receipt, stored },
      'provider_events.received',
    );
    if (receipt === 'ACCEPTED') accept(res, answer);
    else refuse(res, problemFor(receipt, waitSeconds));
  } catch (error) {
    if (error instanceof ServiceUnavailable) refuse(res, error.problem);
    else refuse(res, maskedError(services.log, error, { path: facts.path }).problem);
  }
}

function accept(res: ServerResponse, answer: WebhookAnswer = { status: 204 }): void {
  const { status, headers, body } = answer;
  if (body === undefined) res.writeHead(status, headers).end();
  else
    res
      .writeHead(status, { ...headers, 'content-type': 'application/json' })
      .end(JSON.stringify(body));
}

/** Anybody may name any provider in a path. */
function nameOf({ catalogue }: Services, name: string): string {
  return catalogue.find(name)?.name ?? 'unknown';
}

const NOWHERE = problemOf('NOT_FOUND', 'Events go to /webhooks/{provider}/{providerAppId}.');
const TOO_LARGE = {
  ...problemOf('BAD_USER_INPUT', `A request has at most ${EVENT_BODY_BYTES_MAX} bytes.`),
  status: 413,
};
const COMPRESSED = { ...problemOf('BAD_USER_INPUT', 'Send the body uncompressed.'), status: 415 };

const NOT_SIGNED = problemOf(
  'UNAUTHENTICATED',
  'The request is not signed by a secret of this app or of the subscription that its address names.',
);

/** Providers wait whole seconds, and at least one. */
function problemFor(receipt: Exclude<Receipt, 'ACCEPTED'>, waitSeconds?: number): Problem {
  const problem = PROBLEMS[receipt];
  return waitSeconds === undefined
    ? problem
    : { ...problem, retryAfterSeconds: Math.max(1, Math.ceil(waitSeconds)) };
}

const PROBLEMS: Record<Exclude<Receipt, 'ACCEPTED'>, Problem> = {
  // They look the same: nobody learns which apps there are.
  REFUSED: NOT_SIGNED,
  UNKNOWN_APP: NOT_SIGNED,
  MALFORMED: problemOf('BAD_USER_INPUT', 'The body is not what the provider sends.'),
  TOO_FAST: {
    ...problemOf('RATE_LIMITED', 'Too much comes at once. Send it again after Retry-After.'),
    status: 503,
  },
  FULL: {
    ...problemOf('RATE_LIMITED', 'Too many events wait. Send it again after Retry-After.'),
    status: 503,
  },
};

function refuse(res: ServerResponse, problem: Problem): void {
  if (res.destroyed || res.headersSent) return;
  const { status, retryAfterSeconds } = problem;
  res.writeHead(status, {
    'content-type': 'application/problem+json',
    ...(retryAfterSeconds !== undefined && { 'retry-after': `${retryAfterSeconds}` }),
  });
  res.end(JSON.stringify(problem));
}
