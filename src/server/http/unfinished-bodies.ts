/** Cuts bodies that do not arrive whole in time. Node's own timeouts cut heads. */
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config.ts';
import { networkOf } from '../../domain/viewer/network.ts';
import { problemOf } from '../../errors.ts';
import { sendProblem } from '../../rest/send-problem.ts';
import { UnfinishedRoom } from './unfinished.ts';

const SLOW =
  'The body came too slowly. Send it within LIMIT_BODY_MS, at LIMIT_BODY_BYTES_PER_SECOND or faster.';
const CROWDED =
  'Too many requests of this address are unfinished. Send each request whole, and try again.';
const PROBLEMS = {
  slow: problemOf('BAD_USER_INPUT', SLOW, { status: 408 }),
  crowded: problemOf('RATE_LIMITED', CROWDED, { status: 503, retryAfterSeconds: 1 }),
};

export function watchBodies(app: FastifyInstance, config: Config): void {
  const { LIMIT_BODY_BYTES, LIMIT_BODY_MS, LIMIT_BODY_BYTES_PER_SECOND } = config;
  const { LIMIT_UNFINISHED: networkMax, LIMIT_UNFINISHED_BYTES: networkBytesMax } = config;
  const room = new UnfinishedRoom({ networkMax, networkBytesMax });
  app.addHook('onRequest', ({ raw: req, facts }, reply, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = req.headers;
    const { socket } = req;
    const readBefore = socket.bytesRead;
    const isOver = () => req.complete || socket.destroyed;
    // Bytes that wait for a provider are not the client's fault.
    let heldUpMs = 0;
    let checkedAtMs = 0;
    const enter = () =>
      room.enter(req, {
        network: networkOf(facts.address),
        bytes: Math.min(Number(length ?? LIMIT_BODY_BYTES), LIMIT_BODY_BYTES),
        isOver,
        isSlow(elapsedMs) {
          if (req.readableLength > 0) heldUpMs += elapsedMs - checkedAtMs;
          checkedAtMs = elapsedMs;
          const dueMs = elapsedMs - heldUpMs - LIMIT_BODY_MS;
          return socket.bytesRead - readBefore < (dueMs / 1000) * LIMIT_BODY_BYTES_PER_SECOND;
        },
        cut(reason) {
          if (reply.raw.headersSent) socket.destroy();
          else sendProblem(reply.header('connection', 'close'), PROBLEMS[reason]);
        },
      });
    // Most bodies are whole at the end of this turn of the event loop.
    const hasBody = encoding !== undefined || Number(length ?? 0) > 0;
    if (hasBody) setImmediate(() => isOver() || enter());
    done();
  });
}
