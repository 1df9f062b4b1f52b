/**
 * How many requests are answered at once. Over the maximum, a request is refused before any work is done for it:
 * an endless queue would answer everybody too late.
 */
import type { ServerResponse } from 'node:http';
import { problemOf } from '../../errors.ts';
import type { Meters } from '../../meters.ts';

const RETRY_AFTER_SECONDS = 1;

export interface Places {
  /**
   * Counts the request until its answer has left, or until what is returned is called, which may be done again.
   * Null if there are too many: then it is refused already, in the format that clients of its path expect.
   */
  enter(res: ServerResponse, type: keyof typeof BODIES): (() => void) | null;
}

export function createPlaces(max: number, meters: Meters): Places {
  let running = 0;
  return {
    enter(res, type) {
      // It was cut off while its last bytes came.
      if (res.writableEnded) return null;
      if (running >= max) {
        meters.refused('requests');
        shed(res, type);
        return null;
      }
      running += 1;
      meters.placesTaken(1);
      let isOver = false;
      const leave = () => {
        if (isOver) return;
        isOver = true;
        running -= 1;
        meters.placesTaken(-1);
      };
      res.once('close', leave);
      return leave;
    },
  };
}

const DETAIL =
  'The server answers as many requests at once as LIMIT_REQUESTS allows. Try again after Retry-After.';
const PROBLEM = problemOf('RATE_LIMITED', DETAIL, { status: 503 });
const BODIES = {
  'application/problem+json': PROBLEM,
  'application/json': {
    errors: [{ message: DETAIL, extensions: { code: 'RATE_LIMITED', problem: PROBLEM } }],
  },
};

function shed(res: ServerResponse, type: keyof typeof BODIES): void {
  const body = JSON.stringify(BODIES[type]);
  res.writeHead(503, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'retry-after': String(RETRY_AFTER_SECONDS),
  });
  res.end(body);
}
