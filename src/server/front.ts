/** The first to see a request: gives it an id, a way to go, and its line in the log. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { RequestFacts } from '../graphql/gateway.ts';
import type { Log } from '../log.ts';

/** A client's own request id is taken where it is harmless in a log. */
const REQUEST_ID = /^[\w.-]{1,64}$/;

const KEY_PREFIX = '/ik_';
const KEYS = /\/ik_[^/]*/g;

export interface Asked extends RequestFacts {
  /** Without the query. */
  path: string;
}

/** A way to answer requests; false where it is not the one for this request. */
export type Way = (req: IncomingMessage, res: ServerResponse, asked: Asked) => boolean;

/** The ways are tried in their order; the last one takes all. */
export function createFront(log: Log, ways: Way[]): RequestListener {
  return (req, res) => {
    const startedAt = performance.now();
    const asked = factsOf(req, res);
    const { requestId, path } = asked;
    res.setHeader('x-request-id', requestId);
    res.setHeader('x-content-type-options', 'nosniff');
    res.once('close', () => {
      const ms = Math.round(performance.now() - startedAt);
      const { method } = req;
      const facts = { requestId, method, path: withoutKeys(path), status: res.statusCode, ms };
      log.info(res.writableFinished ? facts : { ...facts, isCut: true }, 'request');
    });
    ways.some((way) => way(req, res, asked));
  };
}

function factsOf({ headers, url = '', socket }: IncomingMessage, res: ServerResponse): Asked {
  const given = headers['x-request-id'];
  const isUsable = typeof given === 'string' && REQUEST_ID.test(given);
  const query = url.indexOf('?');
  return {
    requestId: isUsable ? given : randomUUID(),
    address: socket.remoteAddress ?? 'local',
    setHeader: (name, value) => void res.setHeader(name, value),
    disconnect: () => socket.destroy(),
    staysOpen: () => {},
    path: query < 0 ? url : url.slice(0, query),
  };
}

/** REST names API keys by their value too. */
function withoutKeys(path: string): string {
  return path.includes(KEY_PREFIX) ? path.replace(KEYS, '/***') : path;
}
