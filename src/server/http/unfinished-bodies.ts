/** Request bodies that did not come together with their heads. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../../config.ts';
import { networkOf } from '../../domain/viewer/network.ts';
import { type Problem, problemOf } from '../../errors.ts';
import type { RequestFacts } from './request-facts.ts';
import { type CutReason, type Unfinished, UnfinishedRoom } from './unfinished.ts';

type Limits = Pick<
  Config,
  | 'LIMIT_UNFINISHED'
  | 'LIMIT_UNFINISHED_BYTES'
  | 'LIMIT_BODY_BYTES'
  | 'LIMIT_BODY_MS'
  | 'LIMIT_BODY_BYTES_PER_SECOND'
>;

export type WatchBody = (req: IncomingMessage, res: ServerResponse, facts: RequestFacts) => void;

/** Watches a request body from the end of this turn of the event loop on: most are whole by then. */
export function createBodyWatch(limits: Limits): WatchBody {
  const room = new UnfinishedRoom({
    networkMax: limits.LIMIT_UNFINISHED,
    networkBytesMax: limits.LIMIT_UNFINISHED_BYTES,
  });
  let begun: Parameters<WatchBody>[] = [];
  const enterThose = () => {
    const those = begun;
    begun = [];
    for (const [req, res, facts] of those) {
      if (!isWhole(req)) room.enter(req, unfinishedBody(limits, { req, res, facts }));
    }
  };
  return (req, res, facts) => {
    if (!hasBody(req)) return;
    if (begun.length === 0) setImmediate(enterThose);
    begun.push([req, res, facts]);
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] !== undefined : length !== '0';
}

function isWhole({ complete, socket }: IncomingMessage): boolean {
  return complete || socket.destroyed;
}

interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  facts: RequestFacts;
}

function unfinishedBody(limits: Limits, { req, res, facts }: Exchange): Unfinished {
  const { LIMIT_BODY_BYTES, LIMIT_BODY_MS, LIMIT_BODY_BYTES_PER_SECOND } = limits;
  const { socket, headers } = req;
  const readBefore = socket.bytesRead;
  // Bytes that wait for a provider are not the client's fault.
  let heldUpMs = 0;
  let lookedAtMs = 0;
  return {
    network: networkOf(facts.address),
    bytes: Math.min(Number(headers['content-length'] ?? LIMIT_BODY_BYTES), LIMIT_BODY_BYTES),
    isOver: () => isWhole(req),
    isSlow(elapsedMs) {
      if (req.readableLength > 0) heldUpMs += elapsedMs - lookedAtMs;
      lookedAtMs = elapsedMs;
      const dueMs = elapsedMs - heldUpMs - LIMIT_BODY_MS;
      return socket.bytesRead - readBefore < (dueMs / 1000) * LIMIT_BODY_BYTES_PER_SECOND;
    },
    cut: (reason) => refuse(res, socket, PROBLEMS[reason]),
  };
}

const PROBLEMS: Record<CutReason, Problem> = {
  slow: problemOf(
    'BAD_USER_INPUT',
    'The body came too slowly. Send it within LIMIT_BODY_MS, at LIMIT_BODY_BYTES_PER_SECOND or faster.',
    { status: 408 },
  ),
  crowded: problemOf(
    'RATE_LIMITED',
    'Too many requests of this address are unfinished. Send each request whole, and try again.',
    {
      status: 503,
      retryAfterSeconds: 1,
    },
  ),
};

function refuse(res: ServerResponse, socket: IncomingMessage['socket'], problem: Problem): void {
  if (res.headersSent) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(problem);
  res.writeHead(problem.status, {
    connection: 'close',
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    ...(problem.retryAfterSeconds !== undefined && { 'retry-after': '1' }),
  });
  res.end(body, () => socket.destroy());
}
