/**
 * Forwards requests below `…/installations/{installationId}/proxy`, and requests to PROXY_URL, to the provider, with the
 * connection's credentials.
 */
import {
  type IncomingMessage,
  METHODS,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { z } from 'zod';
import { createCall } from '../../../domain/access/call.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import {
  type ForwardedRequest,
  forwardPages,
  forwardRequest,
  type InstallationKey,
  isPaginated,
  type StreamedResponse,
} from '../../../domain/integrations/installation/proxy.ts';
import { type Issue, invalidInput } from '../../../kernel/errors.ts';
import { problem } from '../../../kernel/problem-schema.ts';
import { PROXY_HOST_PATH } from '../../endpoint/reference-hosts.ts';
import { refuseUnstorable } from '../../endpoint/request-input.ts';
import { admit, type RestGateway, runInTurn } from '../../endpoint/run-request.ts';

const PROXY_PATH = '/projects/:projectIdOrName/installations/:installationId/proxy';
/** Matches `/v1` and the five segments of PROXY_PATH. */
const PROXY_PREFIX = /^(?:\/[^/?]*){6}/;
/** Matches `/v1` and PROXY_HOST_PATH. */
const HOST_PREFIX = /^(?:\/[^/?]*){2}/;

const DOCUMENTED_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** TRACE would reveal the connection's credentials, and CONNECT would open a tunnel. */
const UNSUPPORTED_METHODS = ['CONNECT', 'TRACE'];

export function registerProxy(app: FastifyInstance, gateway: RestGateway): void {
  const methods = METHODS.filter((method) => !UNSUPPORTED_METHODS.includes(method));
  for (const method of methods) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true });
  }
  const handler = () => undefined;
  const createRoute = (proxy: Proxy) => ({
    // The hook responds before the router parses the body, which may have any type and is forwarded unchanged.
    onRequest: (request: FastifyRequest, reply: FastifyReply) =>
      forward(gateway, proxy, request, reply),
    handler,
    exposeHeadRoute: false,
  });
  const route = createRoute(PATH_PROXY);
  for (const method of DOCUMENTED_METHODS) {
    app.route({ ...route, method, url: `${PROXY_PATH}/*`, schema: createRouteSchema(method) });
  }
  const schema = { hide: true } as FastifySchema;
  const hiddenRoute = { ...route, schema };
  const undocumentedMethods = methods.filter(
    (method) => !(DOCUMENTED_METHODS as readonly string[]).includes(method),
  );
  app.route({ ...hiddenRoute, method: undocumentedMethods, url: `${PROXY_PATH}/*` });
  app.route({ ...hiddenRoute, method: methods, url: PROXY_PATH });
  if (gateway.services.config.PROXY_URL === undefined) return;
  app.route({ ...createRoute(HOST_PROXY), schema, method: methods, url: `${PROXY_HOST_PATH}/*` });
}

/** A form of forwarded requests. */
interface Proxy {
  /** The part of the path before the provider's path. */
  prefix: RegExp;
  /** True if `paginate=true` is a parameter of the gateway, and not of the provider. */
  paginates: boolean;
  getKey(request: FastifyRequest): InstallationKey;
}

const PATH_PROXY: Proxy = {
  prefix: PROXY_PREFIX,
  paginates: true,
  getKey: ({ params }) => params as { projectIdOrName: string; installationId: string },
};

/** The proxy of the reference API, whose requests name the installation in headers. */
const HOST_PROXY: Proxy = { prefix: HOST_PREFIX, paginates: false, getKey: getKeyFromHeaders };

const PROXY_VERSION = '1';

/** Throws BAD_USER_INPUT that names every header that is missing or invalid. */
function getKeyFromHeaders({ headers }: FastifyRequest): InstallationKey {
  const find = (name: string) => [headers[name]].flat()[0] || undefined;
  const installationId = find('x-amp-installation-id');
  const key = {
    projectIdOrName: find('x-amp-project-id'),
    integrationIdOrName: find('x-amp-integration-name'),
    groupRef: find('x-amp-group-ref'),
  };
  const version = find('x-amp-proxy-version');
  const issues: Issue[] = [];
  const report = (name: string, detail: string) =>
    issues.push({ in: 'header', path: [name], detail });
  if (version !== PROXY_VERSION) report('x-amp-proxy-version', `must be ${PROXY_VERSION}.`);
  if (!key.projectIdOrName) report('x-amp-project-id', 'is required: the id of the project.');
  const alternative = 'is required if x-amp-installation-id is absent.';
  if (!installationId && !key.integrationIdOrName) report('x-amp-integration-name', alternative);
  if (!installationId && !key.groupRef) report('x-amp-group-ref', alternative);
  if (issues.length > 0) throw invalidInput(issues);
  const { projectIdOrName, integrationIdOrName = '', groupRef = '' } = key;
  return installationId
    ? { projectIdOrName, installationId }
    : { projectIdOrName, integrationIdOrName, groupRef };
}

async function forward(
  gateway: RestGateway,
  { prefix, paginates, getKey }: Proxy,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { raw: req } = request;
  const { raw: res } = reply;
  const viewer = await admit(gateway.admission, request);
  // The slot is taken after admission, because unadmitted callers with slow bodies could otherwise occupy all slots.
  if (!gateway.takeSlot(request, reply)) return;
  const key = getKey(request);
  refuseUnstorable({ path: key, query: {}, header: {}, body: {} });
  const disconnected = new AbortController();
  res.once('close', () => disconnected.abort(new Error('The caller has disconnected.')));
  const forwardedRequest = toForwardedRequest(req, prefix, disconnected.signal);
  try {
    const { slot } = request.metadata;
    const response = await runInTurn(viewer, { slot }, async () => {
      const call = createCall(gateway.services, viewer, { slot });
      const pages =
        paginates && isPaginated(forwardedRequest)
          ? await forwardPages(call, key, forwardedRequest)
          : null;
      return pages ?? forwardRequest(call, key, forwardedRequest);
    });
    if (response instanceof Readable) return await streamLines(response, reply);
    res.writeHead(response.status, createHeaders(response, reply));
    reply.hijack();
    res.flushHeaders();
    await streamTo(res, response.body);
  } catch (error) {
    if (!disconnected.signal.aborted) throw error;
    reply.hijack();
  }
}

async function streamLines(lines: Readable, reply: FastifyReply): Promise<void> {
  const { raw: res } = reply;
  res.writeHead(200, {
    ...reply.getHeaders(),
    'content-type': 'application/x-ndjson',
  } as OutgoingHttpHeaders);
  reply.hijack();
  await streamTo(res, lines);
}

/** `pipeline` adds 7 listeners of `close` to those of the gateway. Node warns of more than 10. */
const RESPONSE_LISTENERS_MAX = 20;

/** Streams the body. If its source fails, the response is cut off too, so that it does not appear complete. */
async function streamTo(res: ServerResponse, body: Readable): Promise<void> {
  res.setMaxListeners(RESPONSE_LISTENERS_MAX);
  await pipeline(body, res).catch(() => {});
}

function toForwardedRequest(
  req: IncomingMessage,
  prefix: RegExp,
  signal: AbortSignal,
): ForwardedRequest {
  const { method = 'GET', url = '', headers } = req;
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  const hasBody = encoding !== undefined || (length !== undefined && Number(length) > 0);
  const target = url.replace(prefix, '');
  return { method, target, headers, body: hasBody ? req : null, signal };
}

/**
 * Returns the headers of the provider and of the gateway. The gateway's headers take precedence, except for
 * `cache-control`, which the provider decides.
 */
function createHeaders({ headers }: StreamedResponse, reply: FastifyReply): OutgoingHttpHeaders {
  const { 'cache-control': defaultCacheControl, ...gatewayHeaders } = reply.getHeaders();
  const vary = [gatewayHeaders.vary ?? [], headers.vary ?? []].flat().join(', ');
  return {
    'cache-control': defaultCacheControl,
    ...headers,
    ...gatewayHeaders,
    ...(vary && { vary }),
    'x-content-type-options': 'nosniff',
    // A page of the provider that a browser shows must not run on the gateway's origin. `sandbox` keeps it from
    // scripts, forms, popups and the origin's storage. Several policies apply together.
    'content-security-policy': [headers['content-security-policy'] ?? [], 'sandbox']
      .flat()
      .join(', '),
  } as OutgoingHttpHeaders;
}

const params = z.object({
  projectIdOrName,
  installationId: z.string().describe('The id of the installation.'),
  path: z.string().describe("The path after the provider's base URL. Slashes are not encoded."),
});
const anyContent = z.unknown().describe('Content of any type, which is not changed.');
const PROVIDER_CONTENT = { '*/*': { schema: anyContent } };

const DESCRIPTION = `Forwards any method, path, query and body to the provider unchanged, with the credentials of the installation's
connection in place of the caller's. Returns the provider's response unchanged. The integration's \`proxy\` must be enabled.
With \`paginate=true\`, a GET or a POST of JSON for a list that the gateway supports (docs/providers) returns all pages as
one stream of records, one line of JSON each. Redirects are not followed. Needs the scopes \`read\` and \`${forwardRequest.needs}\`, or a
builder's bearer token.`;

function createRouteSchema(method: (typeof DOCUMENTED_METHODS)[number]): FastifySchema {
  const takesBody = method !== 'GET' && method !== 'DELETE';
  const createResponse = (description: string, otherContent = {}) => ({
    description,
    content: { ...PROVIDER_CONTENT, ...otherContent },
  });
  const problemContent = { 'application/problem+json': { schema: problem } };
  return {
    operationId: `forward${method[0]}${method.slice(1).toLowerCase()}`,
    tags: ['Installations'],
    summary: `Forwards a ${method} to the provider.`,
    description: DESCRIPTION.replaceAll('\n', ' '),
    security: [{ apiKey: [] }, { bearer: [] }],
    params,
    ...(takesBody && { consumes: ['*/*'], body: anyContent }),
    response: {
      '2xx': createResponse("The provider's response."),
      '3xx': createResponse("The provider's redirect, which is not followed."),
      '4xx': createResponse("The provider's refusal, or the gateway's.", problemContent),
      '5xx': createResponse(
        "The provider's failure, or the provider did not respond.",
        problemContent,
      ),
    },
  };
}
