/** Receives events of providers at `/webhooks/{provider}/{providerAppId}`. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../domain/call.ts';
import { type Receipt, receiveEvents } from '../domain/provider-event/receive-events.ts';
import { createProblem, type Problem } from '../errors.ts';
import { EVENT_BODY_BYTES_MAX } from '../limit-settings.ts';
import { sendProblem } from '../rest/endpoint/rest-errors.ts';
import { getGatewayUrl } from './http/gateway-url.ts';

const PATH = /^\/webhooks\/([\w.-]{1,64})\/(app_[0-9a-z]{26})$/;

export function registerWebhooks(scope: FastifyInstance, services: Services): void {
  const refuseBody = (request: FastifyRequest, reply: FastifyReply, outcome: BodyRefusal) => {
    const provider = getMetricName(services, parseAppPath(request)?.provider);
    services.meters.providerEventReceived({ provider, outcome });
    return sendProblem(reply, createBodyProblem(outcome));
  };
  scope.removeAllContentTypeParsers();
  // Signatures cover the exact bytes of the body.
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  // Invalid requests are refused before their bodies are read.
  scope.addHook('onRequest', (request, reply, done) => {
    if (!parseAppPath(request)) return void sendProblem(reply, createUnknownPathProblem());
    if (request.method !== 'POST') {
      const problem = createProblem('METHOD_NOT_ALLOWED', 'Send events by POST.');
      return void sendProblem(reply.header('allow', 'POST'), problem);
    }
    if (request.headers['content-encoding'] !== undefined) {
      return void refuseBody(request, reply, 'COMPRESSED');
    }
    done();
  });
  scope.setErrorHandler<{ code?: string } & Error>((error, request, reply) => {
    if (error.code !== 'FST_ERR_CTP_BODY_TOO_LARGE') throw error;
    return refuseBody(request, reply, 'TOO_LARGE');
  });
  scope.setNotFoundHandler((_request, reply) => sendProblem(reply, createUnknownPathProblem()));
  scope.all('/*', { bodyLimit: EVENT_BODY_BYTES_MAX }, (request, reply) =>
    receiveWebhook(services, request, reply),
  );
}

async function receiveWebhook(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { method, headers, metadata } = request;
  const app = parseAppPath(request);
  if (!app) return sendProblem(reply, createUnknownPathProblem());
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const url = getGatewayUrl(services, request) + request.url;
  const input = { method, url, headers, body };
  const { receipt, stored, response, waitSeconds } = await receiveEvents(services, app, input);
  const provider = getMetricName(services, app.provider);
  services.meters.providerEventReceived({ provider, outcome: receipt });
  services.meters.providerEventsProcessed({ provider, outcome: 'stored', count: stored });
  const fields = { requestId: metadata.requestId, ...app, receipt, stored };
  services.log.info(fields, 'provider_events.received');
  if (receipt !== 'ACCEPTED') return sendProblem(reply, createReceiptProblem(receipt, waitSeconds));
  const { status, headers: replyHeaders = {}, body: text } = response ?? { status: 204 };
  return reply.code(status).headers(replyHeaders).send(text);
}

type BodyRefusal = 'COMPRESSED' | 'TOO_LARGE';

interface AddressedApp {
  provider: string;
  providerAppId: string;
}

function parseAppPath({ metadata }: FastifyRequest): AddressedApp | null {
  const [, provider, providerAppId] = PATH.exec(metadata.path) ?? [];
  return provider && providerAppId ? { provider, providerAppId } : null;
}

/** Returns the provider's name for metrics. Paths may contain any name, so unknown ones share a label. */
function getMetricName({ catalog }: Services, name = ''): string {
  return catalog.find(name)?.name ?? 'unknown';
}

function createUnknownPathProblem(): Problem {
  return createProblem('NOT_FOUND', 'Send events to /webhooks/{provider}/{providerAppId}.');
}

function createBodyProblem(refusal: BodyRefusal): Problem {
  return refusal === 'COMPRESSED'
    ? createProblem('UNSUPPORTED_MEDIA_TYPE', 'Send the body uncompressed.')
    : createProblem(
        'CONTENT_TOO_LARGE',
        `The body must have at most ${EVENT_BODY_BYTES_MAX} bytes.`,
      );
}

function createUnsignedProblem(): Problem {
  return createProblem(
    'UNAUTHENTICATED',
    'The request is not signed with a secret of this app or of the subscription in its URL.',
  );
}

/** Returns the problem of a refused request. Its Retry-After is a whole number of seconds, at least one. */
function createReceiptProblem(
  receipt: Exclude<Receipt, 'ACCEPTED'>,
  waitSeconds?: number,
): Problem {
  const problem = PROBLEMS[receipt]();
  return waitSeconds === undefined
    ? problem
    : { ...problem, retryAfterSeconds: Math.max(1, Math.ceil(waitSeconds)) };
}

const PROBLEMS: Record<Exclude<Receipt, 'ACCEPTED'>, () => Problem> = {
  // Both refusals have one response, which does not reveal whether the app exists.
  REFUSED: createUnsignedProblem,
  UNKNOWN_APP: createUnsignedProblem,
  MALFORMED: () =>
    createProblem('BAD_USER_INPUT', "The body does not have the form of this provider's events."),
  TOO_FAST: () =>
    createRateProblem('The event rate is exceeded. Retry after the time in Retry-After.'),
  FULL: () =>
    createRateProblem('Too many events are pending. Retry after the time in Retry-After.'),
};

/** Creates a problem with the status 503, after which providers retry. */
function createRateProblem(detail: string): Problem {
  return createProblem('RATE_LIMITED', detail, { status: 503 });
}
