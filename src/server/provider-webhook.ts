/** Receives events of providers at `/webhooks/{provider}/{providerAppId}`. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../domain/access/call.ts';
import {
  type ReceiveOutcome,
  receiveEvents,
  requiresEmptyResponses,
} from '../domain/data/provider-event/receive-events.ts';
import { createProblem, DomainError, type Problem } from '../kernel/errors.ts';
import { sendProblem } from '../rest/endpoint/rest-errors.ts';
import { findBodyRefusal } from '../rest/endpoint/utf8.ts';
import { EVENT_BODY_BYTES_MAX } from '../settings/limit-settings.ts';
import { getGatewayUrl } from './http/gateway-url.ts';
import { refuseOtherMethods } from './http/refuse-methods.ts';

const APP_PATH = '/:provider(^[\\w.-]{1,64}$)/:providerAppId(^app_[0-9a-z]{26}$)';

interface AppRoute {
  Params: { provider: string; providerAppId: string };
}

export function registerWebhooks(scope: FastifyInstance, services: Services): void {
  const refuseBody = (
    { params }: FastifyRequest<AppRoute>,
    reply: FastifyReply,
    outcome: BodyRefusal,
  ) => {
    const provider = getMetricName(services, params.provider);
    services.meters.providerEventReceived({ provider, outcome });
    return sendProblem(reply, createBodyProblem(outcome));
  };
  scope.removeAllContentTypeParsers();
  // Signatures cover the exact bytes of the body.
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, ({ headers }, body, done) =>
    done(findBodyRefusal(headers, body as Buffer), body),
  );
  scope.addHook('onSend', async ({ params }, reply, payload) => {
    const { provider, providerAppId } = params as Partial<AppRoute['Params']>;
    if (provider === undefined || providerAppId === undefined) return payload;
    const isEmpty = await requiresEmptyResponses(services, { provider, providerAppId });
    return isEmpty ? omitBody(reply) : payload;
  });
  scope.setErrorHandler<{ code?: string } & Error, AppRoute>((error, request, reply) => {
    if (error instanceof DomainError) {
      const provider = getMetricName(services, request.params.provider);
      services.meters.providerEventReceived({ provider, outcome: 'MALFORMED' });
    }
    if (error.code !== 'FST_ERR_CTP_BODY_TOO_LARGE') throw error;
    return refuseBody(request, reply, 'TOO_LARGE');
  });
  scope.post<AppRoute>(APP_PATH, {
    bodyLimit: EVENT_BODY_BYTES_MAX,
    async onRequest(request, reply) {
      const isCompressed = request.headers['content-encoding'] !== undefined;
      if (isCompressed) return refuseBody(request, reply, 'COMPRESSED');
    },
    handler: (request, reply) => receiveWebhook(services, request, reply),
  });
  refuseOtherMethods(scope, APP_PATH, ['POST', 'HEAD']);
  // Vendors such as Intercom check a URL with HEAD before they accept it. The response does not reveal which apps exist.
  scope.head('/*', async (_request, reply) => reply.code(200).send());
  scope.route({
    method: scope.supportedMethods.filter((method) => method !== 'HEAD'),
    url: '/*',
    exposeHeadRoute: false,
    // `onRequest` refuses the request before its body is read.
    onRequest: refusePath,
    handler: refusePath,
  });
}

/** Returns the payload of a response without a body. */
function omitBody(reply: FastifyReply): null {
  reply.removeHeader('content-type');
  reply.removeHeader('content-length');
  return null;
}

async function refusePath(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const detail = 'Send events to /webhooks/{provider}/{providerAppId}.';
  return sendProblem(reply, createProblem('NOT_FOUND', detail));
}

async function receiveWebhook(
  services: Services,
  request: FastifyRequest<AppRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { method, headers, metadata, params: app } = request;
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const url = getGatewayUrl(services, request) + request.url;
  const input = { method, url, headers, body };
  const { outcome, stored, response, waitSeconds } = await receiveEvents(services, app, input);
  const provider = getMetricName(services, app.provider);
  services.meters.providerEventReceived({ provider, outcome });
  services.meters.providerEventsProcessed({ provider, outcome: 'stored', count: stored });
  const fields = { requestId: metadata.requestId, ...app, outcome, stored };
  services.log.info(fields, 'provider_events.received');
  if (outcome !== 'ACCEPTED') return sendProblem(reply, createRefusal(outcome, waitSeconds));
  const { status, headers: replyHeaders = {}, body: text } = response ?? { status: 204 };
  return reply.code(status).headers(replyHeaders).send(text);
}

type BodyRefusal = 'COMPRESSED' | 'TOO_LARGE';

/** Returns the provider's name for metrics. Paths may contain any name, so names that are not built in share a label. */
function getMetricName({ catalogs }: Services, name: string): string {
  return catalogs.builtIn.find(name)?.name ?? 'unknown';
}

function createBodyProblem(refusal: BodyRefusal): Problem {
  return refusal === 'COMPRESSED'
    ? createProblem('UNSUPPORTED_MEDIA_TYPE', 'Send the body uncompressed.')
    : createProblem(
        'CONTENT_TOO_LARGE',
        `The body must have at most ${EVENT_BODY_BYTES_MAX} bytes.`,
      );
}

function createRefusal(
  outcome: Exclude<ReceiveOutcome, 'ACCEPTED'>,
  waitSeconds?: number,
): Problem {
  switch (outcome) {
    // Both refusals have one response, which does not reveal whether the app exists.
    case 'REFUSED':
    case 'UNKNOWN_APP':
      return createProblem(
        'UNAUTHENTICATED',
        'The request is not signed with a secret of this app or of the subscription in its URL.',
      );
    case 'MALFORMED':
      return createProblem(
        'BAD_USER_INPUT',
        "The body does not have the form of this provider's events.",
      );
    case 'TOO_FAST':
      return createRateProblem('The event rate is exceeded.', waitSeconds);
    case 'FULL':
      return createRateProblem('Too many events are pending.', waitSeconds);
  }
}

/** Creates a problem with the status 503, after which providers retry. */
function createRateProblem(reason: string, waitSeconds = 0): Problem {
  return createProblem('RATE_LIMITED', `${reason} Retry after the time in Retry-After.`, {
    status: 503,
    retryAfterSeconds: Math.max(1, Math.ceil(waitSeconds)),
  });
}
