/**
 * The adapter for JSON posts: requests that post one operation as JSON. Nearly all requests are. The adapter runs the
 * plugins of the Yoga instance without Yoga's HTTP layer, which costs more than most queries.
 */

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ExecutionResult } from 'graphql';
import type { OpenResultStreams } from '../../domain/access/viewer/open-result-streams.ts';
import { createErrorMapper } from '../../graphql/execution/graphql-errors.ts';
import {
  type OperationParams,
  readOperationRequest,
} from '../../graphql/execution/operation-context.ts';
import type { Log } from '../../kernel/log.ts';
import { isObject } from '../../work/is-object.ts';
import { atLoopTurnEnd } from '../../work/loop-turn-end.ts';
import { createGraphqlHttpResponse } from './graphql-http-response.ts';
import { openOperation } from './open-operation.ts';
import { createResultStreamHead, writeResultStream } from './result-stream.ts';
import {
  acceptsOnlyResultStream,
  findResultStreamFormat,
  refuseUnacceptable,
} from './result-stream-format.ts';
import type { Yoga } from './yoga.ts';

const JSON_TYPE = /^application\/json\s*(;|$)/i;
const JSON_ACCEPTED = /\*\/\*|application\/(graphql-response\+)?json/;

interface JsonPostServices {
  log: Log;
  yoga: Yoga;
  streams: Pick<OpenResultStreams, 'isStopping'>;
}

type JsonPostHandler = (
  request: FastifyRequest,
  reply: FastifyReply,
  params: OperationParams,
) => void;

export function createJsonPostHandler({ log, yoga, streams }: JsonPostServices): JsonPostHandler {
  const mapError = createErrorMapper(log);

  const run = async ({ headers, metadata }: FastifyRequest, params: OperationParams) => {
    const operation = await openOperation(yoga, params, readOperationRequest(headers, metadata));
    if ('errors' in operation) return { errors: operation.errors.map(mapError) };
    return refuseUnacceptable(headers.accept, await operation.run());
  };

  return async (request, reply, params) => {
    const { metadata, headers } = request;
    const { accept } = headers;
    try {
      const results = await run(request, params);
      const format = findResultStreamFormat(accept, results);
      if (!format) return send(reply, results as ExecutionResult, accept);
      const head = createResultStreamHead(format, results);
      const res = writeHead(reply, head.status, head.headers);
      await writeResultStream(results, res, { format, streams, client: metadata });
    } catch (error) {
      if (reply.raw.headersSent) reply.raw.destroy();
      else send(reply, { errors: [mapError(error)] }, accept);
    }
  };
}

function send(reply: FastifyReply, result: ExecutionResult, accept: string | undefined): void {
  const { status, headers, body } = createGraphqlHttpResponse(result, accept);
  const parts = typeof body === 'string' ? [body] : body;
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  const res = writeHead(reply, status, { ...headers, 'content-length': length });
  // Responses of one turn of the event loop are written together, because each write wakes a client.
  atLoopTurnEnd(() => {
    for (const part of parts.slice(0, -1)) res.write(part);
    res.end(parts.at(-1));
  });
}

function writeHead(
  reply: FastifyReply,
  status: number,
  headers: OutgoingHttpHeaders,
): ServerResponse {
  reply.hijack();
  return reply.raw.writeHead(status, Object.assign(reply.getHeaders(), headers));
}

/** Returns the operation in a JSON post. Null for a request that Yoga's own handler must serve. */
export function parseJsonPost({ method, headers, body }: FastifyRequest): OperationParams | null {
  const isJsonPost =
    method === 'POST' &&
    JSON_TYPE.test(headers['content-type'] ?? '') &&
    headers['content-encoding'] === undefined &&
    typeof body === 'string' &&
    isAcceptable(headers.accept);
  return isJsonPost ? parseParams(body) : null;
}

function isAcceptable(accept: string | undefined): boolean {
  return accept === undefined || JSON_ACCEPTED.test(accept) || acceptsOnlyResultStream(accept);
}

const PARAM_NAMES = new Set(['query', 'documentId', 'variables', 'operationName', 'extensions']);

/** Parses the body. Null if it is invalid; Yoga's own handler then refuses it with the reason. */
function parseParams(body: string): OperationParams | null {
  try {
    const params: unknown = JSON.parse(body);
    return isOperationParams(params) ? params : null;
  } catch {
    return null;
  }
}

function isOperationParams(params: unknown): params is OperationParams {
  if (!isObject(params)) return false;
  const { query, documentId, variables, extensions, operationName } = params;
  if (typeof (documentId ?? query) !== 'string') return false;
  return (
    Object.keys(params).every((name) => PARAM_NAMES.has(name)) &&
    (query == null || typeof query === 'string') &&
    (variables == null || isObject(variables)) &&
    (extensions == null || isObject(extensions)) &&
    (operationName == null || typeof operationName === 'string')
  );
}
