/** The long way for every request to /graphql that is not plain: GET, GraphiQL, odd bodies, and words for all. */
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
  // To load Yoga is a tenth of the start: the first request that needs it does.
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
  const detail = `The body is larger than ${bytesMax} bytes.`;
  const error = toGraphQLError('BAD_USER_INPUT', detail, { extra: { status: 413 } });
  const { status, headers, body } = httpAnswer({ errors: [error] }, null);
  res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

/** What failed is made again by the next who asks. */
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
