/** The one way from what was thrown to what a GraphQL client reads. */
import { randomUUID } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { DomainError, ERROR_STATUS, type ErrorCode, type Issue, problemOf } from '../errors.ts';
import type { Log } from '../log.ts';

/** Every error leaves with a code and a problem document; what nobody threw on purpose is masked. */
export function createErrorMapper(log: Log): (error: unknown) => GraphQLError {
  return (error) => {
    const graphqlError = error instanceof GraphQLError ? error : null;
    const cause = graphqlError?.originalError ?? error;
    if (cause instanceof DomainError) return refusal(cause, graphqlError);
    if (graphqlError && cause === graphqlError) return requestError(graphqlError);
    if (graphqlError && cause instanceof GraphQLError) return requestError(graphqlError);
    const instance = `urn:uuid:${randomUUID()}`;
    log.error({ err: cause, instance, path: graphqlError?.path }, 'internal error');
    const detail = 'Something went wrong on our side. The instance names it in our log.';
    return toGraphQLError('INTERNAL_ERROR', detail, { extra: { instance }, at: graphqlError });
  };
}

/** Thrown by a domain function. */
function refusal(error: DomainError, at: GraphQLError | null): GraphQLError {
  const { retryAfterSeconds } = error.extra;
  const headers =
    typeof retryAfterSeconds === 'number'
      ? { 'Retry-After': String(retryAfterSeconds) }
      : undefined;
  return toGraphQLError(error.code, error.message, {
    extra: { issues: error.issues, ...error.extra },
    at,
    headers,
  });
}

/** Made by graphql-js or Yoga: the request itself is not usable. */
function requestError(error: GraphQLError): GraphQLError {
  if (error.extensions.problem) return error;
  if (error.message.startsWith('Syntax Error')) {
    return toGraphQLError('GRAPHQL_PARSE_FAILED', error.message, { at: error });
  }
  if (error.message.startsWith('Variable "$')) {
    const { issue, detail } = variableIssue(error.message);
    return toGraphQLError('BAD_USER_INPUT', detail, { extra: { issues: [issue] }, at: error });
  }
  return toGraphQLError('GRAPHQL_VALIDATION_FAILED', error.message, { at: error });
}

/** graphql-js prints the value that a variable had, which may hold a secret: only the place and the reason stay. */
function variableIssue(message: string): { issue: Issue; detail: string } {
  const variable = /^Variable "\$(\w+)"/.exec(message)?.[1] ?? '';
  const place = /at "([^"]+)"; /.exec(message)?.[1] ?? variable;
  const reason = message.includes('; ')
    ? message.slice(message.lastIndexOf('; ') + 2)
    : message.replace(/^Variable "\$\w+" /, '');
  return {
    issue: { in: 'body', name: place, detail: reason },
    detail: `Variable ${place} is not usable. ${reason}`,
  };
}

interface Details {
  extra?: Record<string, unknown>;
  at?: GraphQLError | null;
  headers?: Record<string, string>;
}

export function toGraphQLError(
  code: ErrorCode,
  detail: string,
  { extra = {}, at, headers }: Details = {},
): GraphQLError {
  // What has a path happened during execution, where one field's error is not the request's status.
  const http = at?.path ? undefined : { status: ERROR_STATUS[code], headers };
  return new GraphQLError(detail, {
    nodes: at?.nodes,
    source: at?.source,
    positions: at?.positions,
    path: at?.path,
    extensions: { code, problem: problemOf(code, detail, extra), ...(http && { http }) },
  });
}
