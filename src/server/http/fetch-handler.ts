/** Handlers that are given a fetch Request and answer with a Response, as the libraries of the web do. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { sendNodeResponse } from '@whatwg-node/server';
import {
  type ErrorCode,
  maskedError,
  type Problem,
  problemOf,
  ServiceUnavailable,
} from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Body } from './request-body.ts';
import type { RequestFacts } from './request-facts.ts';

export type Answer = (request: Request, facts: RequestFacts) => Response | Promise<Response>;

/** The body, if it matters, was read before. */
export type FetchHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  facts: RequestFacts,
  body?: Body,
) => void;

/** Answers an unexpected error with a problem document, whose instance is in the log too. */
export function createFetchHandler(log: Log, answer: Answer): FetchHandler {
  const answerOrRefuse = async (request: Request | null, facts: RequestFacts) => {
    try {
      return request ? await answer(request, facts) : UNUSABLE();
    } catch (error) {
      if (error instanceof ServiceUnavailable) return sent(error.problem);
      return sent(maskedError(log, error, { path: facts.path }).problem);
    }
  };
  return async (req, res, facts, body) => {
    const response = await answerOrRefuse(requestOf(req, res, body), facts);
    await sendNodeResponse(response, res, req, true);
  };
}

export function problem(code: ErrorCode, detail: string): Response {
  return sent(problemOf(code, detail));
}

function sent(document: Problem): Response {
  const { status, retryAfterSeconds } = document;
  const headers = {
    'content-type': 'application/problem+json',
    ...(retryAfterSeconds !== undefined && { 'retry-after': `${retryAfterSeconds}` }),
  };
  return Response.json(document, { status, headers });
}

const UNUSABLE = () =>
  problem('BAD_USER_INPUT', 'The method, the Host header or the path is not valid HTTP.');

/** Null if no Request can be made: the method, the Host header and the path may be anything. */
function requestOf(
  { headers, method = 'GET', url = '' }: IncomingMessage,
  res: ServerResponse,
  body: Body | undefined,
): Request | null {
  const gone = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) gone.abort();
  });
  const init = {
    method,
    headers: pairsOf(headers),
    signal: gone.signal,
    ...(body && method !== 'GET' && method !== 'HEAD' && { body }),
  };
  try {
    return new Request(`http://${headers.host ?? 'localhost'}${url}`, init);
  } catch {
    return null;
  }
}

function pairsOf(headers: IncomingHttpHeaders): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
}
