/** A result over HTTP: the status of its errors if nothing of the operation ran, else 200. */
import type { ExecutionResult } from 'graphql';
import type { Problem } from '../../errors.ts';
import { publicResult } from '../../graphql/execution/graphql-errors.ts';

export interface GraphqlHttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const GRAPHQL_JSON = 'application/graphql-response+json';

export function graphqlHttpResponse(
  result: ExecutionResult,
  accept: string | null | undefined,
): GraphqlHttpResponse {
  const type = accept?.includes(GRAPHQL_JSON) ? GRAPHQL_JSON : 'application/json';
  const { status: own, headers } = httpOf(result);
  const status = type !== GRAPHQL_JSON && isWellFormed(result, own) ? 200 : own;
  const body = JSON.stringify(result.errors || result.extensions ? publicResult(result) : result);
  return { status, headers: { 'content-type': `${type}; charset=utf-8`, ...headers }, body };
}

/**
 * The specification requires 200 for a response as application/json to every well-formed request, even if its document
 * is refused. Yoga refuses requests that are not well-formed with a status, and marks errors of documents as `spec`.
 */
function isWellFormed({ errors = [] }: ExecutionResult, status: number): boolean {
  return (
    status === 400 &&
    errors.every(({ extensions }) => {
      const http = extensions?.http as Http | undefined;
      return !http || http.spec === true;
    })
  );
}

/** Status and headers of a result. Yoga's own refusals (another method, a body too large) bring theirs. */
export function httpOf({ data, errors = [] }: ExecutionResult): Omit<GraphqlHttpResponse, 'body'> {
  const problems = errors.flatMap(
    (error) => (error.extensions?.problem as Problem | undefined) ?? [],
  );
  const status = Math.max(0, ...problems.map((problem) => problem.status));
  const didNothing = !data || Object.values(data).every((value) => value === null);
  const isRefused = WHOLLY.some((code) =>
    errors.every(({ extensions }) => extensions?.code === code),
  );
  const isAnswered = data !== undefined && !(didNothing && isRefused);
  if (status === 0 || isAnswered) return { status: 200, headers: {} };
  const wait = problems.find((problem) => typeof problem.retryAfterSeconds === 'number');
  const own = errors.map((error) => (error.extensions?.http as Http | undefined)?.headers);
  const headers = Object.assign({}, ...own, wait && { 'retry-after': `${wait.retryAfterSeconds}` });
  return { status, headers };
}

/** If every field was refused with one of these codes, the request was. */
const WHOLLY = ['UNAUTHENTICATED', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE'];

interface Http {
  spec?: boolean;
  headers?: Record<string, string>;
}
