/**
 * The short way for what nearly every request is: one operation, posted as JSON. It goes through the same
 * pipeline as all others, without Yoga's fetch layer around it, which costs more than most queries. Whatever
 * is odd about a request (another method, origin, length or body) is left to Yoga's handler.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Config } from '../config.ts';
import type { OpenStreams } from '../domain/viewer/open-streams.ts';
import { createErrorMapper } from '../graphql/errors.ts';
import {
  eventStreamHead,
  isForStream,
  wantsStream,
  writeEventStream,
} from '../graphql/event-stream.ts';
import { httpAnswer } from '../graphql/http-answer.ts';
import { type Asking, askerOf, type Pipeline } from '../graphql/pipeline.ts';
import type { Log } from '../log.ts';
import type { Asked, Way } from './front.ts';
import type { Load } from './load.ts';

const GRAPHQL_PATH = '/graphql';
const JSON_TYPE = /^application\/json\s*(;|$)/i;
const JSON_ACCEPTED = /\*\/\*|application\/(graphql-response\+)?json/;

export interface PlainGraphql {
  config: Config;
  log: Log;
  pipeline: Pipeline;
  streams: Pick<OpenStreams, 'areEnding'>;
  load: Load;
  /** Yoga's own handler, for a request whose body turns out to be odd: it is found in `req.body`. */
  yoga: Way;
}

export function plainGraphql(served: PlainGraphql): Way {
  const { config, load, yoga } = served;
  const answer = answerBy(served);
  return (req, res, asked) => {
    if (!isPlain(config, req, asked)) return false;
    const leave = load.enter(res, 'application/json');
    if (!leave) return true;
    readBody(req, (body) => {
      const params = paramsOf(body);
      if (params) void answer({ req, res, asked: { ...asked, staysOpen: leave }, params });
      else {
        leave();
        yoga(Object.assign(req, { body }), res, asked);
      }
    });
    return true;
  };
}

function isPlain({ CORS_ORIGINS, LIMIT_BODY_BYTES }: Config, req: IncomingMessage, asked: Asked) {
  const { headers } = req;
  return (
    req.method === 'POST' &&
    asked.path === GRAPHQL_PATH &&
    JSON_TYPE.test(headers['content-type'] ?? '') &&
    headers['content-encoding'] === undefined &&
    (headers.origin === undefined || CORS_ORIGINS.length === 0) &&
    isWithin(headers['content-length'], LIMIT_BODY_BYTES) &&
    accepts(headers.accept)
  );
}

/** An empty body, and one without a length, are odd. */
function isWithin(length: string | undefined, most: number): boolean {
  return length !== undefined && Number(length) > 0 && Number(length) <= most;
}

function accepts(accept: string | undefined): boolean {
  return accept === undefined || JSON_ACCEPTED.test(accept) || wantsStream(accept);
}

/** A body of known length; a client that goes before its end is not answered. */
function readBody(req: IncomingMessage, take: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => take(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
}

const MEMBERS = new Set(['query', 'variables', 'operationName', 'extensions']);

/** Null for everything that Yoga is to find words for. */
function paramsOf(body: Buffer): Asking | null {
  try {
    const params: unknown = JSON.parse(body.toString('utf8'));
    return isAsking(params) ? params : null;
  } catch {
    return null;
  }
}

function isAsking(params: unknown): params is Asking {
  if (!isObject(params) || typeof params.query !== 'string') return false;
  const { variables, extensions, operationName } = params;
  return (
    Object.keys(params).every((name) => MEMBERS.has(name)) &&
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
  asked: Asked;
  params: Asking;
}

function answerBy({ log, pipeline, streams }: PlainGraphql) {
  const mapError = createErrorMapper(log);

  const send = (res: ServerResponse, result: ExecutionResult, accept: string | undefined) => {
    const { status, headers, body } = httpAnswer(result, accept);
    res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
    // What is answered in one turn of the event loop leaves in a row: each write by itself would wake its client.
    setImmediate(() => res.end(body));
  };

  return async ({ req, res, asked, params }: Plain): Promise<void> => {
    const { headers } = req;
    const header = (name: string) => (headers[name] as string | undefined) ?? null;
    try {
      const results = await pipeline.run(params, askerOf(header, asked));
      if (!isForStream(headers.accept, results)) {
        return send(res, results as ExecutionResult, headers.accept);
      }
      asked.staysOpen();
      const head = eventStreamHead(results);
      res.writeHead(head.status, head.headers);
      const isCut = () => streams.areEnding;
      await writeEventStream(results, res, { isCut, onStalled: asked.disconnect });
    } catch (error) {
      const result = { errors: [mapError(error)] };
      if (res.headersSent) res.destroy();
      else send(res, result, headers.accept);
    }
  };
}
