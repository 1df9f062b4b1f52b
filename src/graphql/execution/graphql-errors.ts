/** Turns what was thrown into the errors that a GraphQL client reads. */
import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import {
  DomainError,
  type ErrorCode,
  httpRefusal,
  maskedError,
  problemOf,
  ServiceUnavailable,
} from '../../errors.ts';
import type { Log } from '../../log.ts';

/** Every error leaves with a code and a problem document; an unexpected one is masked. */
export function createErrorMapper(log: Log): (error: unknown) => GraphQLError {
  return (error) => {
    const graphqlError = error instanceof GraphQLError ? error : null;
    const cause = graphqlError?.originalError ?? error;
    if (cause instanceof DomainError) return refusal(cause, graphqlError);
    if (cause instanceof ServiceUnavailable) return unavailable(cause, graphqlError);
    if (graphqlError && cause === graphqlError) return requestError(graphqlError);
    if (graphqlError && cause instanceof GraphQLError) return requestError(graphqlError);
    return refusal(maskedError(log, cause, { path: graphqlError?.path }), graphqlError);
  };
}

/** Thrown by a domain function. */
function refusal(error: DomainError, at: GraphQLError | null): GraphQLError {
  return toGraphQLError(error.code, error.message, {
    extra: { issues: error.issues, ...error.extra },
    at,
  });
}

/** The log has one line for an outage, not one for each request. */
function unavailable({ message, retryAfterSeconds }: ServiceUnavailable, at: GraphQLError | null) {
  return toGraphQLError('SERVICE_UNAVAILABLE', message, { extra: { retryAfterSeconds }, at });
}

/** An error of graphql-js or Yoga: the request itself is not usable. */
function requestError(error: GraphQLError): GraphQLError {
  if (error.extensions.problem) return error;
  // Yoga's own refusals (another method, a body too large) have a status and headers.
  const { status, headers } = (error.extensions.http ?? {}) as {
    status?: number;
    headers?: object;
  };
  const invalid: ErrorCode = 'GRAPHQL_VALIDATION_FAILED';
  const { code, extra } = status ? httpRefusal(status, invalid) : { code: invalid, extra: {} };
  const http = status || headers ? { status, headers } : undefined;
  return toGraphQLError(code, error.message, { extra, at: error, http });
}

/** Longer than any message without a name that the caller has chosen. */
const DETAIL_MAX = 1_000;

/** Cuts a message that repeats a long name of the caller. */
export function bounded(message: string): string {
  return message.length > DETAIL_MAX ? `${message.slice(0, DETAIL_MAX)}...` : message;
}

interface Details {
  extra?: Parameters<typeof problemOf>[2];
  at?: GraphQLError | null;
  /** Status and headers of the answer, in Yoga's form. */
  http?: object;
}

export function toGraphQLError(
  code: ErrorCode,
  text: string,
  { extra = {}, at, http }: Details = {},
): GraphQLError {
  const detail = bounded(text);
  return new GraphQLError(detail, {
    nodes: at?.nodes,
    source: at?.source,
    positions: at?.positions,
    path: at?.path,
    extensions: { code, problem: problemOf(code, detail, extra), ...(http && { http }) },
  });
}

/** A result as clients read it, without status and headers. */
export function publicResult({ data, errors, extensions }: ExecutionResult) {
  const formatted = errors?.map((error): GraphQLFormattedError => {
    const { extensions: all = {}, ...rest } = error.toJSON();
    const { http: _http, ...own } = all;
    return { ...rest, extensions: own };
  });
  const { http: _http, ...own } = extensions ?? {};
  return {
    ...(data !== undefined && { data }),
    ...(formatted && { errors: formatted }),
    ...(Object.keys(own).length > 0 && { extensions: own }),
  };
}
