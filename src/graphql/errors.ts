/** The one way from what was thrown to what a GraphQL client reads. */
import { randomUUID } from 'node:crypto';
import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import { DomainError, type ErrorCode, type Issue, problemOf } from '../errors.ts';
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
  return toGraphQLError(error.code, error.message, {
    extra: { issues: error.issues, ...error.extra },
    at,
  });
}

/** Made by graphql-js or Yoga: the request itself is not usable. */
function requestError(error: GraphQLError): GraphQLError {
  if (error.extensions.problem) return error;
  const message = withoutValues(error.message);
  if (message.startsWith('Syntax Error')) {
    return toGraphQLError('GRAPHQL_PARSE_FAILED', message, { at: error });
  }
  if (message.startsWith('Variable "$')) {
    const { issue, detail } = variableIssue(message);
    return toGraphQLError('BAD_USER_INPUT', detail, { extra: { issues: [issue] }, at: error });
  }
  // Yoga's own refusals (another method, a body too large) bring their status.
  const http = error.extensions.http as { status?: number } | undefined;
  const extra = http?.status ? { status: http.status } : {};
  return toGraphQLError('GRAPHQL_VALIDATION_FAILED', message, { extra, at: error, http });
}

/** graphql-js repeats texts and values that it has no use for, which may be secrets. */
function withoutValues(message: string): string {
  return message
    .replace(/( cannot represent [^:]*value): .*$/s, '$1.')
    .replace(/Value ".*" does not exist in/s, 'Value does not exist in')
    .replace(/( found (?:Block)?String) ".*"\.$/s, '$1.');
}

/** graphql-js prints the value that a variable had, which may hold a secret: only the place and the reason stay. */
function variableIssue(message: string): { issue: Issue; detail: string } {
  const variable = /^Variable "\$(\w+)"/.exec(message)?.[1] ?? '';
  const place = /at "([^"]+)"; /.exec(message)?.[1] ?? variable;
  const reason = message.includes('; ')
    ? message.slice(message.lastIndexOf('; ') + 2)
    : message.replace(
        /^Variable "\$\w+" of required type "(.+)" was not provided/,
        'It is required: $1',
      );
  return {
    issue: { in: 'body', name: place, detail: reason },
    detail: `Variable ${place} is not usable. ${reason}`,
  };
}

interface Details {
  extra?: Record<string, unknown>;
  at?: GraphQLError | null;
  /** Status and headers of the answer, in Yoga's form. */
  http?: object;
}

export function toGraphQLError(
  code: ErrorCode,
  detail: string,
  { extra = {}, at, http }: Details = {},
): GraphQLError {
  return new GraphQLError(detail, {
    nodes: at?.nodes,
    source: at?.source,
    positions: at?.positions,
    path: at?.path,
    extensions: { code, problem: problemOf(code, detail, extra), ...(http && { http }) },
  });
}

/** A result as clients read it: without what is for the HTTP layer alone. */
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
