/** Maps errors to the GraphQL errors that clients receive. */
import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import {
  createMaskedError,
  createProblem,
  DomainError,
  type ErrorCode,
  getHttpRefusal,
  ServiceUnavailable,
} from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';

/** Returns a function that gives every error a code and a problem document. It masks unexpected errors. */
export function createErrorMapper(log: Log): (error: unknown) => GraphQLError {
  return (error) => {
    const graphqlError = error instanceof GraphQLError ? error : null;
    const cause = graphqlError?.originalError ?? error;
    if (cause instanceof DomainError) return mapDomainError(cause, graphqlError);
    if (cause instanceof ServiceUnavailable) {
      const { message, retryAfterSeconds } = cause;
      const extra = { retryAfterSeconds };
      return toGraphQLError('SERVICE_UNAVAILABLE', message, { extra, cause: graphqlError });
    }
    if (graphqlError && cause instanceof GraphQLError) return mapRequestError(graphqlError);
    return mapDomainError(
      createMaskedError(log, cause, { path: graphqlError?.path }),
      graphqlError,
    );
  };
}

/** Maps an error that a domain function throws. */
function mapDomainError(error: DomainError, cause: GraphQLError | null): GraphQLError {
  return toGraphQLError(error.code, error.message, {
    extra: { issues: error.shownIssues, ...error.extra },
    cause,
  });
}

/** Maps an error of graphql-js or Yoga, which means that the request itself is invalid. */
function mapRequestError(error: GraphQLError): GraphQLError {
  if (error.extensions.problem) return error;
  // Yoga's own refusals, like that of an unsupported method, have a status and headers.
  const { status, headers } = (error.extensions.http ?? {}) as {
    status?: number;
    headers?: object;
  };
  const defaultCode: ErrorCode = 'GRAPHQL_VALIDATION_FAILED';
  const { code, extra } = status
    ? getHttpRefusal(status, defaultCode)
    : { code: defaultCode, extra: {} };
  const http = status || headers ? { status, headers } : undefined;
  return toGraphQLError(code, error.message, { extra, cause: error, http });
}

/** Longer than any message without a name that the caller sent. */
const DETAIL_LENGTH_MAX = 1_000;

/** Truncates a message, which may repeat a long name that the caller sent. */
export function truncateMessage(message: string): string {
  return message.length > DETAIL_LENGTH_MAX ? `${message.slice(0, DETAIL_LENGTH_MAX)}...` : message;
}

interface Details {
  extra?: Parameters<typeof createProblem>[2];
  cause?: GraphQLError | null;
  /** The status and headers of the response, in Yoga's form. */
  http?: object;
}

export function toGraphQLError(
  code: ErrorCode,
  message: string,
  { extra = {}, cause, http }: Details = {},
): GraphQLError {
  const detail = truncateMessage(message);
  return new GraphQLError(detail, {
    nodes: cause?.nodes,
    source: cause?.source,
    positions: cause?.positions,
    path: cause?.path,
    extensions: { code, problem: createProblem(code, detail, extra), ...(http && { http }) },
  });
}

/** Returns a result as clients receive it, without the status and headers of the HTTP response. */
export function toPublicResult({ data, errors, extensions }: ExecutionResult) {
  const publicErrors = errors?.map((error): GraphQLFormattedError => {
    const { extensions: allExtensions = {}, ...rest } = error.toJSON();
    const { http: _http, ...publicExtensions } = allExtensions;
    return { ...rest, extensions: publicExtensions };
  });
  const { http: _http, ...publicExtensions } = extensions ?? {};
  return {
    ...(data !== undefined && { data }),
    ...(publicErrors && { errors: publicErrors }),
    ...(Object.keys(publicExtensions).length > 0 && { extensions: publicExtensions }),
  };
}
