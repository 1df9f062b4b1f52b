/**
 * Creates HTTP responses for GraphQL results. The status is 200, or that of the errors if no part of the operation ran.
 */
import type { ExecutionResult } from 'graphql';
import { toPublicResult } from '../../graphql/execution/graphql-errors.ts';
import type { SerializedResult } from '../../graphql/execution/message.ts';
import type { Problem } from '../../kernel/errors.ts';

interface GraphqlHttpResponse {
  status: number;
  headers: Record<string, string>;
  /** The JSON of a long result is in parts, because joining them would block the event loop. */
  body: string | readonly Buffer[];
}

const GRAPHQL_JSON = 'application/graphql-response+json';

export function createGraphqlHttpResponse(
  result: SerializedResult,
  accept: string | null | undefined,
): GraphqlHttpResponse {
  const type = accept?.includes(GRAPHQL_JSON) ? GRAPHQL_JSON : 'application/json';
  const { status: httpStatus, headers } = getStatusAndHeaders(result);
  const status = type !== GRAPHQL_JSON && isWellFormed(result, httpStatus) ? 200 : httpStatus;
  return {
    status,
    headers: { 'content-type': `${type}; charset=utf-8`, ...headers },
    body: result.jsonParts ?? JSON.stringify(isPublic(result) ? result : toPublicResult(result)),
  };
}

/** Returns the whole body, for transports that take no parts. */
export function joinBody(body: GraphqlHttpResponse['body']): string | Buffer<ArrayBuffer> {
  return typeof body === 'string' ? body : Buffer.concat(body);
}

/** True for most results. They need no copy without internal members. */
function isPublic({ errors, extensions }: ExecutionResult): boolean {
  return !errors && !extensions;
}

/**
 * True for errors of a well-formed request. In `application/json`, the GraphQL-over-HTTP specification requires 200 for
 * them, even if the document is refused. Yoga adds a status to errors of malformed requests, and marks errors of
 * documents as `spec`.
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

/**
 * Returns the status and headers of a result. Yoga's own refusals, like that of a wrong method, bring their headers.
 */
export function getStatusAndHeaders({
  data,
  errors,
}: ExecutionResult): Omit<GraphqlHttpResponse, 'body'> {
  if (!errors) return { status: 200, headers: {} };
  const problems = errors.flatMap(
    (error) => (error.extensions?.problem as Problem | undefined) ?? [],
  );
  const status = Math.max(0, ...problems.map((problem) => problem.status));
  const didNothing = !data || Object.values(data).every((value) => value === null);
  const isRefused = REQUEST_REFUSALS.some((code) =>
    errors.every(({ extensions }) => extensions?.code === code),
  );
  const hasResult = data !== undefined && !(didNothing && isRefused);
  if (status === 0 || hasResult) return { status: 200, headers: {} };
  const retryableProblem = problems.find(
    (problem) => typeof problem.retryAfterSeconds === 'number',
  );
  const yogaHeaders = errors.map((error) => (error.extensions?.http as Http | undefined)?.headers);
  const headers = Object.assign(
    {},
    ...yogaHeaders,
    retryableProblem && { 'retry-after': `${retryableProblem.retryAfterSeconds}` },
  );
  return { status, headers };
}

/** If every field was refused with one of these codes, the whole request counts as refused. */
const REQUEST_REFUSALS = ['UNAUTHENTICATED', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE'];

interface Http {
  spec?: boolean;
  headers?: Record<string, string>;
}
