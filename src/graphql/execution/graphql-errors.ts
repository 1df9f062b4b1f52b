/** Turns what was thrown into the errors that a GraphQL client reads. */
import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import {
  DomainError,
  type ErrorCode,
  type Issue,
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
  const issue = variableIssue(error);
  if (issue) {
    const detail = `Variable ${issue.name} is not usable. ${issue.detail}`;
    return toGraphQLError('BAD_USER_INPUT', detail, { extra: { issues: [issue] }, at: error });
  }
  const message = withoutValues(error.message);
  if (message.startsWith('Syntax Error')) {
    return toGraphQLError('GRAPHQL_PARSE_FAILED', message, { at: error });
  }
  // Yoga's own refusals (another method, a body too large) have a status and headers.
  const { status, headers } = (error.extensions.http ?? {}) as {
    status?: number;
    headers?: object;
  };
  const extra = status ? { status } : {};
  const http = status || headers ? { status, headers } : undefined;
  return toGraphQLError('GRAPHQL_VALIDATION_FAILED', message, { extra, at: error, http });
}

/** Longer than any message without a caller's own text in it. */
const MESSAGE_MAX = 300;

/**
 * graphql-js repeats texts and values that it refuses, which may be secrets, and a megabyte long:
 * each of these patterns looks at a text once. What it suggests are names of the schema, which anybody may know.
 */
function withoutValues(message: string): string {
  const suggestion = suggestionOf(message);
  const plain = message
    .slice(0, message.length - suggestion.length)
    .replace(/^((?:Enum "\w+"|\w+) cannot represent [\w -]*value): .*$/s, '$1.')
    .replace(/^Value ".*" does not exist in/s, 'Value does not exist in')
    .replace(/^(Expected value of type "[^"]+"), found .*$/s, '$1.')
    .replace(/ found ((?:Block)?String) ".*$/s, ' found $1.');
  const own = plain.length > MESSAGE_MAX ? `${plain.slice(0, MESSAGE_MAX)}...` : plain;
  return `${own}${suggestion}`;
}

const SUGGESTION = /^ Did you mean (?:[a-z ]+ )?"\w+"(?:(?:,| or|, or) "\w+")*\?$/;

/** The end of a message that suggests names; empty if it suggests none. */
function suggestionOf(message: string): string {
  const end = message.slice(-MESSAGE_MAX);
  const at = end.lastIndexOf(' Did you mean ');
  return at >= 0 && SUGGESTION.test(end.slice(at)) ? end.slice(at) : '';
}

/** The place of a variable whose value is refused, and why; null for any other error. */
function variableIssue({ message, originalError }: GraphQLError): Issue | null {
  const missing = /^Variable "\$(\w+)" of (?:required|non-null) type "([^"]+)"/.exec(message);
  if (missing)
    return {
      kind: 'missing-value',
      in: 'body',
      name: missing[1] as string,
      detail: `It is required: ${missing[2]}.`,
    };
  const variable = /^Variable "\$(\w+)" got invalid value /.exec(message);
  if (!variable || !originalError) return null;
  // The message is a variable, its value, a place in it if there is one, and the reason.
  const start = message.slice(0, -`; ${originalError.message}`.length);
  const place = / at "([^"]+)"$/.exec(start);
  const name = (place ?? variable)[1] as string;
  return { in: 'body', name, detail: withoutValues(originalError.message) };
}

interface Details {
  extra?: Parameters<typeof problemOf>[2];
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
