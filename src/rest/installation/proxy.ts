/** `…/installations/{installationId}/proxy/…`: the provider's own API, with the connection's credentials. */
import { type IncomingMessage, METHODS, type OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { z } from 'zod';
import { createCall } from '../../domain/call.ts';
import {
  type ForwardedRequest,
  forwardRequest,
  type StreamedResponse,
} from '../../domain/installation/proxy.ts';
import { forwardPages, isPaginated } from '../../domain/installation/proxy-pages.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { problem } from '../../problem-schema.ts';
import { refuseUnstorable } from '../endpoint/request-input.ts';
import { admit, runInTurn } from '../endpoint/run-request.ts';
import type { RestParts } from '../rest.ts';

const BELOW = '/projects/:projectIdOrName/installations/:installationId/proxy';
/** As many segments as in the path. */
const BEFORE_TARGET = /^(?:\/[^/?]*){6}/;

const DOCUMENTED = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** TRACE would show the connection's credentials; CONNECT opens a tunnel. */
const NEVER = ['CONNECT', 'TRACE'];

export function registerProxy(app: FastifyInstance, parts: RestParts): void {
  const others = METHODS.filter((method) => !NEVER.includes(method));
  for (const method of others) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true });
  }
  // Must run before the router parses the body, which may be anything and is passed on unchanged.
  const onRequest = (request: FastifyRequest, reply: FastifyReply) => passOn(parts, request, reply);
  const handler = () => undefined;
  const route = { onRequest, handler, exposeHeadRoute: false };
  for (const method of DOCUMENTED) {
    app.route({ ...route, method, url: `${BELOW}/*`, schema: createRouteSchema(method) });
  }
  const hidden = { ...route, schema: { hide: true } as FastifySchema };
  const undocumented = others.filter(
    (method) => !(DOCUMENTED as readonly string[]).includes(method),
  );
  app.route({ ...hidden, method: undocumented, url: `${BELOW}/*` });
  app.route({ ...hidden, method: others, url: BELOW });
}

async function passOn(
  parts: RestParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { raw: req } = request;
  const { raw: res } = reply;
  const { 'x-api-key': apiKey, authorization } = req.headers;
  const viewer = await admit(parts.admission, {
    credentials: { apiKey: apiKey as string | undefined, authorization },
    sender: request.metadata,
    setHeader: (name, value) => void reply.header(name, value),
  });
  // Callers who are not admitted never get a slot, however slowly their bodies come.
  if (!parts.takeSlot(request, reply)) return;
  const key = request.params as { projectIdOrName: string; installationId: string };
  refuseUnstorable({ path: key, query: {}, header: {}, body: {} });
  const gone = new AbortController();
  res.once('close', () => gone.abort(new Error('The caller has gone.')));
  const forwarded = toForwardedRequest(req, gone.signal);
  try {
    const answer = await runInTurn(viewer, request.metadata, async (slot) => {
      const call = createCall(parts.services, viewer, { slot });
      const pages = isPaginated(forwarded) ? await forwardPages(call, key, forwarded) : null;
      return pages ?? forwardRequest(call, key, forwarded);
    });
    if (answer instanceof Readable) return await streamLines(answer, reply);
    res.writeHead(answer.status, createHeaders(answer, reply));
    reply.hijack();
    res.flushHeaders();
    // If the provider cuts the response off, the caller's response is cut off too, so that it is not taken as complete.
    await pipeline(answer.body, res).catch(() => {});
  } catch (error) {
    if (!gone.signal.aborted) throw error;
    // The caller is gone.
    reply.hijack();
  }
}

/** A failure after the first page cuts the stream off: the caller sees that it is not whole. */
async function streamLines(lines: Readable, reply: FastifyReply): Promise<void> {
  const { raw: res } = reply;
  res.writeHead(200, {
    ...reply.getHeaders(),
    'content-type': 'application/x-ndjson',
  } as OutgoingHttpHeaders);
  reply.hijack();
  await pipeline(lines, res).catch(() => {});
}

function toForwardedRequest(req: IncomingMessage, signal: AbortSignal): ForwardedRequest {
  const { method = 'GET', url = '', headers } = req;
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  const hasBody = encoding !== undefined || (length !== undefined && Number(length) > 0);
  const target = url.replace(BEFORE_TARGET, '');
  return { method, target, headers, body: hasBody ? req : null, signal };
}

/** The provider's, and those that are set already. The provider decides what may be cached, and for how long. */
function createHeaders({ headers }: StreamedResponse, reply: FastifyReply): OutgoingHttpHeaders {
  const { 'cache-control': unsaid, ...own } = reply.getHeaders();
  const vary = [own.vary ?? [], headers.vary ?? []].flat().join(', ');
  return {
    'cache-control': unsaid,
    ...headers,
    ...own,
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
const asItIs = z.unknown().describe("The provider's answer as it came.");
const ITS_OWN = { '*/*': { schema: asItIs } };

const DESCRIPTION = `Any method, path, query and body: they go to the provider as they are, with the credentials
of the installation's connection in place of the caller's, and so does what it answers. The integration's \`proxy\`
must be enabled. A GET, or a POST of JSON, with \`paginate=true\` of a list that the gateway knows (docs/providers) gives all of its pages as
one stream of records, a line of JSON each. Redirects are not followed. Needs the scopes \`read\` and \`${forwardRequest.needs}\`, or a
builder's bearer token.`;

function createRouteSchema(method: (typeof DOCUMENTED)[number]): FastifySchema {
  const takesBody = method !== 'GET' && method !== 'DELETE';
  const answer = (description: string, more = {}) => ({
    description,
    content: { ...ITS_OWN, ...more },
  });
  const refused = { 'application/problem+json': { schema: problem } };
  return {
    operationId: `forward${method[0]}${method.slice(1).toLowerCase()}`,
    tags: ['Installations'],
    summary: `Forwards a ${method} to the provider.`,
    description: DESCRIPTION.replaceAll('\n', ' '),
    security: [{ apiKey: [] }, { bearer: [] }],
    params,
    ...(takesBody && { consumes: ['*/*'], body: asItIs }),
    response: {
      '2xx': answer("The provider's answer."),
      '3xx': answer("The provider's redirect, which is not followed."),
      '4xx': answer("The provider's refusal, or the gateway's.", refused),
      '5xx': answer("The provider's failure, or no answer of it came.", refused),
    },
  };
}
