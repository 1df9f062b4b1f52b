/**
 * The fast path for nearly every request: one operation, posted as JSON. It runs the plugins of the Yoga instance
 * without Yoga's HTTP layer, which costs more than most queries. Yoga's own handler takes every unusual request (another
 * method, length or body).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Config } from '../../config.ts';
import type { OpenStreams } from '../../domain/viewer/open-streams.ts';
import { createErrorMapper } from '../../graphql/execution/graphql-errors.ts';
import { callerOf, type OperationParams } from '../../graphql/execution/operation-context.ts';
import type { Log } from '../../log.ts';
import type { Entrance } from '../http/entrance.ts';
import { readBody } from '../http/request-body.ts';
import type { Handler, RequestFacts } from '../http/request-facts.ts';
import { streamHead, writeStream } from './event-stream.ts';
import { httpAnswer } from './http-answer.ts';
import { runOperation } from './run-operation.ts';
import { acceptableResults, streamFormatOf, wantsStream } from './stream-format.ts';
import type { Yoga } from './yoga.ts';
import type { YogaGraphql } from './yoga-graphql.ts';

const JSON_TYPE = /^application\/json\s*(;|$)/i;
const JSON_ACCEPTED = /\*\/\*|application\/(graphql-response\+)?json/;

export interface PlainGraphql {
  config: Config;
  log: Log;
  yoga: Yoga;
  streams: Pick<OpenStreams, 'areEnding'>;
  entrance: Entrance;
  /** Handles a request whose body turns out to be unusual. */
  yogaGraphql: YogaGraphql;
}

/** Handles requests for which `isPlain` is true. */
export function createPlainGraphql(parts: PlainGraphql): Handler {
  const { config, entrance, yogaGraphql } = parts;
  const answer = answerBy(parts);
  return (req, res, facts) => {
    readBody(req, config.LIMIT_BODY_BYTES, (body) => {
      const slot = entrance.enter(res, 'application/json', facts.address);
      // isPlain checked Content-Length, so the body is never too large.
      if (!slot || !body) return;
      const params = paramsOf(body);
      facts.slot = slot;
      if (params) void answer({ req, res, facts, params });
      else yogaGraphql.answer(req, res, facts, body);
    });
  };
}

/** True if the head of a GraphQL request has nothing unusual. */
export function isPlain({ LIMIT_BODY_BYTES }: Config, { method, headers }: IncomingMessage) {
  return (
    method === 'POST' &&
    JSON_TYPE.test(headers['content-type'] ?? '') &&
    headers['content-encoding'] === undefined &&
    isWithin(headers['content-length'], LIMIT_BODY_BYTES) &&
    accepts(headers.accept)
  );
}

/** Empty bodies and bodies of unknown length are unusual. */
function isWithin(length: string | undefined, max: number): boolean {
  return length !== undefined && Number(length) > 0 && Number(length) <= max;
}

function accepts(accept: string | undefined): boolean {
  return accept === undefined || JSON_ACCEPTED.test(accept) || wantsStream(accept);
}

const MEMBERS = new Set(['query', 'documentId', 'variables', 'operationName', 'extensions']);

/** Null for a body that Yoga's handler must refuse with its reason. */
function paramsOf(body: Buffer): OperationParams | null {
  try {
    const params: unknown = JSON.parse(body.toString('utf8'));
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
    Object.keys(params).every((name) => MEMBERS.has(name)) &&
    (query == null || typeof query === 'string') &&
    (variables == null || isObject(variables)) &&
    (extensions == null || isObject(extensions)) &&
    (operationName == null || typeof operationName === 'string')
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Plain {
  req: IncomingMessage;
  res: ServerResponse;
  facts: RequestFacts;
  params: OperationParams;
}

function answerBy({ log, yoga, streams }: PlainGraphql) {
  const mapError = createErrorMapper(log);

  const send = (res: ServerResponse, result: ExecutionResult, accept: string | undefined) => {
    const { status, headers, body } = httpAnswer(result, accept);
    res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
    // Responses of one turn of the event loop are written together: separate writes would wake each client.
    setImmediate(() => res.end(body));
  };

  return async ({ req, res, facts, params }: Plain): Promise<void> => {
    const { headers } = req;
    const header = (name: string) => (headers[name] as string | undefined) ?? null;
    try {
      const run = await runOperation(yoga, params, callerOf(header, facts));
      const results = acceptableResults(headers.accept, run);
      const format = streamFormatOf(headers.accept, results);
      if (!format) return send(res, results as ExecutionResult, headers.accept);
      // Open streams are bounded by LIMIT_SUBSCRIPTIONS.
      facts.slot?.leave();
      const head = streamHead(format, results);
      res.writeHead(head.status, head.headers);
      const isCut = () => streams.areEnding;
      await writeStream(results, res, { format, isCut, onStalled: facts.disconnect });
    } catch (error) {
      const result = { errors: [mapError(error)] };
      if (res.headersSent) res.destroy();
      else send(res, result, headers.accept);
    }
  };
}
