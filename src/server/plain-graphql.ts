/**
 * The short way for what nearly every request is: one operation, posted as JSON. It runs Yoga's own pipeline
 * with every rule in it, without the fetch layer around it, which costs more than most queries. Whatever is
 * odd about a request (another method, origin, length or body) is left to Yoga's handler.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Config } from '../config.ts';
import type { OpenStreams } from '../domain/viewer/open-streams.ts';
import { createErrorMapper } from '../graphql/errors.ts';
import {
  eventStreamHead,
  isForStream,
  type Results,
  wantsStream,
  writeEventStream,
} from '../graphql/event-stream.ts';
import type { Gateway } from '../graphql/gateway.ts';
import { httpAnswer } from '../graphql/http-answer.ts';
import type { Log } from '../log.ts';
import type { Asked, Way } from './front.ts';
import { type Load, shed } from './load.ts';

const GRAPHQL_PATH = '/graphql';
const JSON_TYPE = /^application\/json\s*(;|$)/i;
const JSON_ACCEPTED = /\*\/\*|application\/(graphql-response\+)?json/;

export interface PlainGraphql {
  config: Config;
  log: Log;
  gateway: Gateway;
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
    readBody(req, (body) => {
      const params = paramsOf(body);
      if (!params) return yoga(Object.assign(req, { body }), res, asked);
      const leave = load.enter();
      if (!leave) return shed(res, 'application/json');
      res.once('close', leave);
      void answer({ req, res, asked: { ...asked, staysOpen: leave }, params });
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

type Params = { query: string } & Record<string, unknown>;

/** Null for everything that Yoga is to find words for. */
function paramsOf(body: Buffer): Params | null {
  try {
    const params: unknown = JSON.parse(body.toString('utf8'));
    const isUsable = typeof params === 'object' && params !== null && !Array.isArray(params);
    return isUsable && typeof (params as Params).query === 'string' ? (params as Params) : null;
  } catch {
    return null;
  }
}

interface Plain {
  req: IncomingMessage;
  res: ServerResponse;
  asked: Asked;
  params: Params;
}

function answerBy({ gateway, log, streams }: PlainGraphql) {
  const mapError = createErrorMapper(log);

  /** What Yoga does between reading a request and writing its answer. */
  const resultsOf = async ({ req, asked, params }: Plain): Promise<Results> => {
    const request = plainRequest(req);
    try {
      const context = { ...asked, request };
      return (await gateway.getResultForParams({ params, request }, context)) as Results;
    } catch (error) {
      return { errors: [mapError(error)] };
    }
  };

  return async (plain: Plain): Promise<void> => {
    const { req, res, asked } = plain;
    const { accept } = req.headers;
    const results = await resultsOf(plain);
    if (isForStream(accept, results)) {
      asked.staysOpen();
      const { status, headers } = eventStreamHead(results);
      res.writeHead(status, headers);
      const isCut = () => streams.areEnding;
      await writeEventStream(results, res, { isCut, onStalled: asked.disconnect });
    } else {
      const { status, headers, body } = httpAnswer(results as ExecutionResult, accept);
      res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
      res.end(body);
    }
  };
}

/** What the pipeline reads of a request: its headers. */
function plainRequest({ method, headers, url = '' }: IncomingMessage): Request {
  const get = (name: string) => {
    const value = headers[name];
    return value === undefined ? null : String(value);
  };
  return { method, url, headers: { get } } as unknown as Request;
}
