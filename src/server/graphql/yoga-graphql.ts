/** Handles every request to /graphql that plain-graphql.ts does not: GET, GraphiQL, and requests that are refused. */
import { toGraphQLError } from '../../graphql/execution/graphql-errors.ts';
import { createFetchHandler, type FetchHandler } from '../http/fetch-handler.ts';
import { readBody } from '../http/request-body.ts';
import type { Handler } from '../http/request-facts.ts';
import type { Places } from '../http/request-places.ts';
import { httpAnswer } from './http-answer.ts';
import type { Yoga, YogaParts } from './yoga.ts';

export interface YogaGraphql {
  handler: Handler;
  /** A request whose body was read, and which has its place. */
  answer: FetchHandler;
}

export function createYogaGraphql(parts: YogaParts & { places: Places }): YogaGraphql {
  const { LIMIT_BODY_BYTES } = parts.config;
  // Loading Yoga takes a tenth of the start: the first request that needs it loads it.
  const open = once(async () => {
    const { openYoga } = await import('./yoga.ts');
    return openYoga(parts);
  });
  const answer = createFetchHandler(parts.log, async (request, facts) => {
    const yoga: Yoga = await open();
    return yoga.fetch(request, facts);
  });
  return {
    answer,
    handler(req, res, facts) {
      readBody(req, LIMIT_BODY_BYTES, (body) => {
        const leave = parts.places.enter(res, 'application/json');
        if (!leave) return;
        if (body) answer(req, res, { ...facts, staysOpen: leave }, body);
        else sendTooLarge(res, LIMIT_BODY_BYTES);
      });
    },
  };
}

function sendTooLarge(res: Parameters<Handler>[1], bytesMax: number): void {
  const detail = `The body is larger than ${bytesMax} bytes, which is LIMIT_BODY_BYTES of the server.`;
  const error = toGraphQLError('BAD_USER_INPUT', detail, { extra: { status: 413 } });
  const { status, headers, body } = httpAnswer({ errors: [error] }, null);
  res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

/** A promise that is made once; if it fails, the next call makes it again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
