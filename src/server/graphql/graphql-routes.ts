/**
 * The routes /graphql and /graphql/projects/{projectIdOrName}. An adapter answers operations that are posted as JSON.
 * Browsers get GraphiQL. Yoga's own handler answers all other requests.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLError } from 'graphql';
import type { Services } from '../../domain/access/call.ts';
import type { Admission } from '../../domain/access/viewer/admission.ts';
import { createErrorMapper, toGraphQLError } from '../../graphql/execution/graphql-errors.ts';
import { readOperationRequest } from '../../graphql/execution/operation-context.ts';
import { type DomainError, getHttpRefusal, invalid } from '../../kernel/errors.ts';
import { findBodyRefusal, findQueryRefusal } from '../../rest/endpoint/utf8.ts';
import { findJsonExcess } from '../../work/json-size.ts';
import { type FindGraphiqlContent, isPageRequest, sendGraphiqlPage } from './graphiql.ts';
import { createGraphqlHttpResponse, joinBody } from './graphql-http-response.ts';
import { createJsonPostHandler, parseJsonPost } from './json-post.ts';
import type { Yoga } from './yoga.ts';

export interface GraphqlParts {
  services: Services;
  admission: Admission;
  yoga: Yoga;
  findGraphiqlContent: FindGraphiqlContent;
  /** Builds the console, with GraphiQL, at the first call if it is stale. */
  buildConsole: () => Promise<void>;
  /** If false, Yoga's own handler serves JSON posts too. */
  hasAdapter?: boolean;
}

/** Details of Fastify's own refusals, by error code. */
const REFUSAL_DETAILS: Record<string, (bytesMax: number) => string> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (bytesMax) =>
    `The body is larger than ${bytesMax} bytes, which is LIMIT_BODY_BYTES of the server.`,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => 'Send the operation as application/json.',
};

export function registerGraphql(scope: FastifyInstance, parts: GraphqlParts): void {
  const { services, yoga, hasAdapter = true } = parts;
  const { config, log } = services;
  const mapError = createErrorMapper(log);
  const respondToJsonPost = createJsonPostHandler({ log, yoga, streams: parts.admission.streams });
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, ({ headers }, body, done) => {
    const text = body.toString('utf8');
    const refusal = findBodyRefusal(headers, body as Buffer) ?? refuseExcess(text);
    done(refusal && toMalformed(refusal), text);
  });
  scope.setErrorHandler<{ code?: string; statusCode?: number } & Error>((error, request, reply) => {
    const { code = '', statusCode: status = 500 } = error;
    const detail = REFUSAL_DETAILS[code]?.(config.LIMIT_BODY_BYTES) ?? 'The body cannot be read.';
    const isUnreadable = code.startsWith('FST_') && status < 500;
    const { code: refusalCode, extra } = getHttpRefusal(status);
    const refusal = isUnreadable ? toGraphQLError(refusalCode, detail, { extra }) : mapError(error);
    const { headers, body, ...response } = createGraphqlHttpResponse(
      { errors: [refusal] },
      request.headers.accept,
    );
    return reply.code(response.status).headers(headers).send(joinBody(body));
  });
  for (const url of ['/', PROJECT_PATH]) {
    scope.route<{ Params: { projectIdOrName?: string } }>({
      // The Fetch API does not support TRACE.
      method: scope.supportedMethods.filter((method) => method !== 'TRACE'),
      url,
      prefixTrailingSlash: 'no-slash',
      handler(request, reply) {
        const refusal = findQueryRefusal(request.url);
        if (refusal) throw toMalformed(refusal);
        request.metadata.projectIdOrName = request.params.projectIdOrName;
        if (isPageRequest(request)) return sendGraphiqlPage(request, reply, parts);
        const params = hasAdapter ? parseJsonPost(request) : null;
        if (params) respondToJsonPost(request, reply, params);
        else return respondWithYoga(yoga, request, reply);
      },
    });
  }
}

function refuseExcess(text: string): DomainError | null {
  const excess = findJsonExcess(text);
  return excess === null ? null : invalid(['body'], excess);
}

/** Converts the refusal of a malformed request, whose status is not 200 even in `application/json`. */
function toMalformed(refusal: DomainError): GraphQLError {
  const { code, message, shownIssues: issues, problem } = refusal;
  const http = { status: problem.status };
  return toGraphQLError(code, message, { extra: { ...(issues && { issues }) }, http });
}

/** The path of a project's typed API, relative to /graphql. */
const PROJECT_PATH = '/projects/:projectIdOrName';

async function respondWithYoga(
  yoga: Yoga,
  { metadata, raw: req, body }: FastifyRequest,
  { raw: res }: FastifyReply,
): Promise<Response> {
  const { headers, method = 'GET', url = '' } = req;
  const disconnected = new AbortController();
  res.once('close', () => res.writableFinished || disconnected.abort());
  // Yoga serves a single path. It reads the project from the metadata.
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const request = new Request(`http://${headers.host ?? 'localhost'}/graphql${query}`, {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    signal: disconnected.signal,
    ...(typeof body === 'string' && { body }),
  });
  return yoga.fetch(request, readOperationRequest(headers, metadata));
}
