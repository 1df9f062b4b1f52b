/** Yoga's own handler: requests to /graphql that plain-graphql.ts does not take (GET, GraphiQL, refused requests). */
import type { Config } from '../../config.ts';
import { toGraphQLError } from '../../graphql/execution/graphql-errors.ts';
import { callerOf } from '../../graphql/execution/operation-context.ts';
import type { Log } from '../../log.ts';
import type { Entrance } from '../http/entrance.ts';
import { createFetchHandler, type FetchHandler } from '../http/fetch-handler.ts';
import { readBody } from '../http/request-body.ts';
import type { Handler } from '../http/request-facts.ts';
import { httpAnswer } from './http-answer.ts';
import type { Yoga } from './yoga.ts';

export interface YogaGraphql {
  handler: Handler;
  /** Handles a request whose body was read and which has its slot. */
  answer: FetchHandler;
}

interface YogaGraphqlParts {
  config: Config;
  log: Log;
  entrance: Entrance;
  yoga: Yoga;
}

export function createYogaGraphql({ config, log, entrance, yoga }: YogaGraphqlParts): YogaGraphql {
  const { LIMIT_BODY_BYTES } = config;
  const answer = createFetchHandler(log, async (request, facts) => {
    const caller = callerOf((name) => request.headers.get(name), facts);
    return yoga.fetch(request, { ...facts, ...caller });
  });
  return {
    answer,
    handler(req, res, facts) {
      readBody(req, LIMIT_BODY_BYTES, (body) => {
        const slot = entrance.enter(res, 'application/json', facts.address);
        if (!slot) return;
        facts.slot = slot;
        if (body) answer(req, res, facts, body);
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
