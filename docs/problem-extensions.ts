/**
 * Types of the errors of the API, made by `npm run problem-types`. Copy the file into a client.
 * A GraphQL error has `ProblemExtensions` as its `extensions`. REST responds with a `Problem`.
 */

/**
 * The `extensions` of each error in a GraphQL response.
 */
export interface ProblemExtensions {
  /**
   * The kind of error. Each has one kind of problem.
   */
  code:
    | 'GRAPHQL_PARSE_FAILED'
    | 'GRAPHQL_VALIDATION_FAILED'
    | 'PERSISTED_QUERY_NOT_SUPPORTED'
    | 'QUERY_LIMIT_EXCEEDED'
    | 'BAD_USER_INPUT'
    | 'UNAUTHENTICATED'
    | 'FORBIDDEN'
    | 'NOT_FOUND'
    | 'METHOD_NOT_ALLOWED'
    | 'CONFLICT'
    | 'CONTENT_TOO_LARGE'
    | 'UNSUPPORTED_MEDIA_TYPE'
    | 'UNPROCESSABLE'
    | 'RATE_LIMITED'
    | 'PROVIDER_ERROR'
    | 'SERVICE_UNAVAILABLE'
    | 'INTERNAL_ERROR';
  problem: Problem;
}
/**
 * A problem document (RFC 9457).
 */
export interface Problem {
  /**
   * A URN that names the kind of problem, like `urn:problem:not-found`.
   */
  type: string;
  /**
   * The page about this kind of problem.
   */
  href: string;
  /**
   * The kind of problem, for people.
   */
  title: string;
  /**
   * The HTTP status.
   */
  status: number;
  /**
   * The reason why this request failed, for people.
   */
  detail: string;
  /**
   * A URN of this occurrence. That of an internal error is in the log of the gateway, with the cause.
   */
  instance: string;
  /**
   * How to resolve the problem. For an unknown name in updateMask, the allowed names.
   */
  remedy?: string;
  /**
   * The limit that the request exceeds: a setting of the server, or what is counted.
   */
  limit?: string;
  /**
   * How much the request has of what the limit counts.
   */
  value?: number;
  /**
   * The most that the limit allows.
   */
  maximum?: number;
  /**
   * How long to wait before retrying the request, in seconds.
   */
  retryAfterSeconds?: number;
  /**
   * For a provider error: the kind of failure.
   */
  reason?: string;
  /**
   * Every offending input, at most 1000.
   */
  issues?: ProblemIssue[];
  [k: string]: unknown;
}
/**
 * One offending input.
 */
export interface ProblemIssue {
  /**
   * A URN that names what is wrong with it, like `urn:problem:missing-value`.
   */
  type: string;
  /**
   * A short summary of the problem, for people.
   */
  title: string;
  /**
   * The part of the request that holds the offending input.
   */
  in: 'path' | 'query' | 'header' | 'body';
  /**
   * The parameter, or the path of the property in the body.
   */
  name: string;
  /**
   * The reason, and the values that are allowed.
   */
  detail: string;
  /**
   * The value in the request. Omitted if it may be a secret.
   */
  value?: {
    [k: string]: unknown;
  };
  /**
   * For an input that is YAML or JSON text: the line of the value in it, from 1.
   */
  line?: number;
  /**
   * The column of the value in that line, from 1.
   */
  column?: number;
  [k: string]: unknown;
}
