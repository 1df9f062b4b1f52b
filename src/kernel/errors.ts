/**
 * The errors that domain functions throw to refuse a request. Each code has one HTTP status and one problem document.
 * graphql/execution/graphql-errors.ts and rest/ turn them into responses.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from './log.ts';
import { ERROR_STATUS, type ErrorCode, type Problem, type ProblemIssue } from './problem-schema.ts';

const TITLES: Record<ErrorCode, string> = {
  GRAPHQL_PARSE_FAILED: 'Bad Request',
  GRAPHQL_VALIDATION_FAILED: 'Bad Request',
  PERSISTED_QUERY_NOT_SUPPORTED: 'Persisted Query Not Supported',
  QUERY_LIMIT_EXCEEDED: 'Query Limit Exceeded',
  BAD_USER_INPUT: 'Bad Request',
  UNAUTHENTICATED: 'Unauthenticated',
  AGENT_SESSION_EXPIRED: 'Agent Session Expired',
  AGENT_SESSION_REVOKED: 'Agent Session Revoked',
  FORBIDDEN: 'Forbidden',
  OBJECT_NOT_GRANTED: 'Object Not Granted',
  VERB_NOT_GRANTED: 'Verb Not Granted',
  SELF_APPROVAL: 'Self-Approval',
  NOT_FOUND: 'Not Found',
  METHOD_NOT_ALLOWED: 'Method Not Allowed',
  CONFLICT: 'Conflict',
  PROPOSAL_NOT_APPROVED: 'Proposal Not Approved',
  PROPOSAL_REJECTED: 'Proposal Rejected',
  PROPOSAL_EXPIRED: 'Proposal Expired',
  PROPOSAL_COMMITTED: 'Proposal Committed',
  PROPOSAL_STALE: 'Proposal Stale',
  PROPOSAL_PAYLOAD_CHANGED: 'Proposal Payload Changed',
  CONTENT_TOO_LARGE: 'Content Too Large',
  UNSUPPORTED_MEDIA_TYPE: 'Unsupported Media Type',
  UNPROCESSABLE: 'Unprocessable',
  RATE_LIMITED: 'Too Many Requests',
  PROVIDER_ERROR: 'Provider Error',
  SERVICE_UNAVAILABLE: 'Service Unavailable',
  INTERNAL_ERROR: 'Internal Server Error',
};

/** The kinds of issues, with their titles. */
const ISSUE_TITLES = {
  'missing-value': 'Missing Value',
  'unknown-name': 'Unknown Name',
  'wrong-type': 'Wrong Type',
  'out-of-range': 'Out of Range',
  'invalid-value': 'Invalid Value',
} as const;
export type IssueKind = keyof typeof ISSUE_TITLES;

/** Describes one invalid member of the input. */
export interface Issue {
  /** Default: `invalid-value`. */
  kind?: IssueKind;
  in: 'path' | 'query' | 'header' | 'body';
  /** Path inside the input: `input.latestRevision.content.read.objects[0].schedule`. */
  name: string;
  detail: string;
  /** Absent if the value is a secret. */
  value?: unknown;
  /** The position of the value in an input that is YAML or JSON text. Lines and columns count from 1. */
  line?: number;
  column?: number;
}

export { ERROR_STATUS, type ErrorCode, type Problem } from './problem-schema.ts';

export class DomainError extends Error {
  override name = 'DomainError';
  readonly code: ErrorCode;
  readonly issues: Issue[] | undefined;
  /** Further members of the problem document. */
  readonly extra: Record<string, unknown>;

  constructor(
    code: ErrorCode,
    detail: string,
    { issues, ...extra }: { issues?: Issue[]; [extra: string]: unknown } = {},
  ) {
    super(detail);
    this.code = code;
    this.issues = issues;
    this.extra = extra;
  }

  get problem(): Problem {
    return createProblem(this.code, this.message, { issues: this.issues, ...this.extra });
  }
}

const TYPE_PREFIX = 'urn:problem:';

export function createProblem(
  code: ErrorCode,
  detail: string,
  { issues, ...extra }: { issues?: Issue[] | undefined; [extra: string]: unknown } = {},
): Problem {
  const name = getProblemName(code);
  return {
    type: `${TYPE_PREFIX}${name}`,
    // A getter, because some problems are created before the gateway knows its own URL.
    get href() {
      return `${gatewayUrl()}${PROBLEMS_PATH}/${name}`;
    },
    title: TITLES[code],
    status: ERROR_STATUS[code],
    detail,
    instance: createInstance(),
    ...(issues && { issues: issues.map(toProblemIssue) }),
    ...extra,
  };
}

/** Returns a URN that identifies one occurrence of a problem. */
function createInstance(): string {
  return `urn:uuid:${randomUUID()}`;
}

/** Error codes of requests that HTTP rules refuse, by status. */
const CODES_BY_STATUS = new Map<number, ErrorCode>(
  (['METHOD_NOT_ALLOWED', 'CONTENT_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const).map((code) => [
    ERROR_STATUS[code],
    code,
  ]),
);

/** Returns the code of a refusal by HTTP rules, and `status` if it differs from the code's status. */
export function getHttpRefusal(
  status: number,
  defaultCode: ErrorCode = 'BAD_USER_INPUT',
): { code: ErrorCode; extra: { status?: number } } {
  const code = CODES_BY_STATUS.get(status);
  return code ? { code, extra: {} } : { code: defaultCode, extra: { status } };
}

let gatewayUrl = () => 'http://localhost';

/** Sets the base URL of the problem pages. It is global, because a process has one public URL. */
export function linkProblemsTo(publicUrl: () => string): void {
  gatewayUrl = publicUrl;
}

/** The path of the problem pages, one for each type (server/problem-page.ts). */
export const PROBLEMS_PATH = '/problems';

export function getProblemTitle(code: ErrorCode): string {
  return TITLES[code];
}

/** Returns the name of a problem: `bad-user-input` for `BAD_USER_INPUT`. */
export function getProblemName(code: ErrorCode): string {
  return code.toLowerCase().replaceAll('_', '-');
}

function toProblemIssue({ kind = 'invalid-value', ...issue }: Issue): ProblemIssue {
  return { type: `${TYPE_PREFIX}${kind}`, title: ISSUE_TITLES[kind], ...issue };
}

/**
 * A dependency of the gateway failed and is expected to recover. `cause` is the failure. Workers retry after this
 * error, but not after a DomainError. It must not have a `code`, because Prisma would treat it as its own error.
 */
export class ServiceUnavailable extends Error {
  override readonly name = 'ServiceUnavailable';
  readonly retryAfterSeconds: number;

  constructor(detail: string, { cause, retryAfterSeconds }: Unavailability) {
    super(detail, { cause });
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get problem(): Problem {
    const { message, retryAfterSeconds } = this;
    return createProblem('SERVICE_UNAVAILABLE', message, { retryAfterSeconds });
  }
}

interface Unavailability {
  cause: unknown;
  retryAfterSeconds: number;
}

/** The maximum number of issues in a response. It bounds the size of the response. */
export const ISSUES_MAX = 1_000;
const ISSUES_IN_DETAIL = 20;

/** Creates an error that names every invalid member of the input. */
export function invalidInput(issues: Issue[], extra: Record<string, unknown> = {}): DomainError {
  const names = issues.slice(0, ISSUES_IN_DETAIL).map((issue) => `${issue.name}: ${issue.detail}`);
  const omitted = issues.length - names.length;
  // The collectors of issues stop at ISSUES_MAX, so the real number may be higher.
  const count = issues.length < ISSUES_MAX ? omitted : `at least ${omitted}`;
  const sentences = [...names, ...(omitted > 0 ? [`And ${count} more.`] : [])].join(' ');
  return new DomainError('BAD_USER_INPUT', `Invalid input. ${sentences}`, {
    ...extra,
    issues: issues.slice(0, ISSUES_MAX),
  });
}

/** Creates the error for a single invalid member of a request body. */
export function invalid(name: string, detail: string, value?: unknown): DomainError {
  return invalidInput([{ in: 'body', name, detail, ...(value === undefined ? {} : { value }) }]);
}

/**
 * Creates the error for a row that does not exist or is outside the caller's scope. Both look the same to the caller.
 */
export function notFound(noun: string, id: string): DomainError {
  return new DomainError('NOT_FOUND', `${noun} ${JSON.stringify(id)} was not found.`);
}

export function conflict(detail: string): DomainError {
  return new DomainError('CONFLICT', detail);
}

export function unprocessable(
  detail: string,
  extra: { providerMessage?: string } = {},
): DomainError {
  return new DomainError('UNPROCESSABLE', detail, extra);
}

export function unauthenticated(detail: string): DomainError {
  return new DomainError('UNAUTHENTICATED', detail);
}

/** Creates the error for a request without credentials. */
export function missingCredentials(): DomainError {
  return unauthenticated('Send an API key as X-Api-Key, or a bearer token as Authorization.');
}

export function forbidden(detail: string): DomainError {
  return new DomainError('FORBIDDEN', detail);
}

export function rateLimited(detail: string, retryAfterSeconds: number): DomainError {
  return new DomainError('RATE_LIMITED', detail, { retryAfterSeconds });
}

/** Logs an unexpected error with these fields, and returns a masked error with the same `instance`. */
export function createMaskedError(log: Log, error: unknown, fields: object): DomainError {
  const instance = createInstance();
  log.error({ err: error, instance, ...fields }, 'error.internal');
  const detail =
    'The gateway failed. Report the `instance` to the operator, who can find the error in the log.';
  return new DomainError('INTERNAL_ERROR', detail, { instance });
}

/** The server or a command can't start. The message states the reason and what the operator can do. */
export class StartRefused extends Error {
  override name = 'StartRefused';
}
