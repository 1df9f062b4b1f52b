/**
 * The schema of refusals on every surface: RFC 9457 with issues. scripts/write-problem-types.ts writes its types for
 * clients.
 */
import { z } from 'zod';

export const ERROR_STATUS = {
  GRAPHQL_PARSE_FAILED: 400,
  GRAPHQL_VALIDATION_FAILED: 400,
  PERSISTED_QUERY_NOT_SUPPORTED: 400,
  QUERY_LIMIT_EXCEEDED: 400,
  BAD_USER_INPUT: 400,
  UNAUTHENTICATED: 401,
  AGENT_SESSION_EXPIRED: 401,
  AGENT_SESSION_REVOKED: 401,
  FORBIDDEN: 403,
  OBJECT_NOT_GRANTED: 403,
  VERB_NOT_GRANTED: 403,
  SELF_APPROVAL: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PROPOSAL_NOT_APPROVED: 409,
  PROPOSAL_REJECTED: 409,
  PROPOSAL_EXPIRED: 409,
  PROPOSAL_COMMITTED: 409,
  PROPOSAL_STALE: 409,
  PROPOSAL_PAYLOAD_CHANGED: 409,
  CONTENT_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UNPROCESSABLE: 422,
  RATE_LIMITED: 429,
  PROVIDER_ERROR: 502,
  SERVICE_UNAVAILABLE: 503,
  INTERNAL_ERROR: 500,
} as const;
export type ErrorCode = keyof typeof ERROR_STATUS;

/** A printed text in parts, from which clients can print their own names of members. */
export const textParts = z.array(
  z
    .union([z.string(), z.object({ member: z.string().describe('The name of the member.') })])
    .meta({ graphql: 'JSON' }),
);

export const problemIssue = z
  .looseObject({
    type: z
      .string()
      .describe('A URN that names what is wrong with it, like `urn:problem:missing-value`.'),
    title: z.string().describe('A short human-readable summary of the problem.'),
    in: z
      .enum(['path', 'query', 'header', 'body'])
      .describe('The part of the request that holds the offending input.'),
    name: z.string().describe('The parameter, or the path of the property in the body.'),
    detail: z.string().describe('The reason, and the values that are allowed.'),
    parts: textParts
      .optional()
      .describe(
        'The detail without its position, in parts: strings, and objects with the name of a `member`. Omitted if the detail names no member and has no position, and by the tools of agents.',
      ),
    value: z
      .unknown()
      .optional()
      .describe('The value in the request. Omitted if it may be a secret.'),
    line: z
      .int()
      .optional()
      .describe('For an input that is YAML or JSON text: the line of the value in it, from 1.'),
    column: z.int().optional().describe('The column of the value in that line, from 1.'),
  })
  .describe('One offending input.');

export const problem = z
  .looseObject({
    type: z
      .string()
      .describe('A URN that names the kind of problem, like `urn:problem:not-found`.'),
    href: z.url().describe('The page about this kind of problem.'),
    title: z.string().describe('The kind of problem in human-readable form.'),
    status: z.int().min(400).max(599).describe('The HTTP status.'),
    detail: z.string().describe('The human-readable reason why this request failed.'),
    instance: z
      .string()
      .describe(
        "A URN that identifies this occurrence. The gateway's log has the `instance` of an internal error, with its cause.",
      ),
    remedy: z
      .string()
      .optional()
      .describe(
        'How to resolve the problem. For an unknown name in updateMask, the allowed names.',
      ),
    providerMessage: z
      .string()
      .optional()
      .describe("The provider's own explanation. Omitted if the provider gave none."),
    limit: z
      .string()
      .optional()
      .describe('The limit that the request exceeds: a setting of the server, or what is counted.'),
    value: z.number().optional().describe("The request's amount of what the limit counts."),
    maximum: z.number().optional().describe('The maximum that the limit allows.'),
    retryAfterSeconds: z
      .number()
      .optional()
      .describe('How long to wait before retrying the request, in seconds.'),
    reason: z.string().optional().describe('For a provider error: the kind of failure.'),
    issues: z.array(problemIssue).optional().describe('Every offending input, at most 1000.'),
  })
  .describe('A problem document (RFC 9457).');

/** The extensions of each error in a GraphQL response. */
export const problemExtensions = z
  .object({
    code: z
      .enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]])
      .describe('The kind of error. Each has one kind of problem.'),
    problem,
  })
  .describe('The `extensions` of each error in a GraphQL response.');

export type ProblemIssue = z.infer<typeof problemIssue>;
export type Problem = z.infer<typeof problem>;
