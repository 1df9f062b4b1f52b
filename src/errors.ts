/**
 * Refusals: what a domain function throws when it refuses a request. Every kind has one code,
 * one HTTP status and one problem document; graphql/execution/graphql-errors.ts and rest/ turn them into answers.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from './log.ts';

export const ERROR_STATUS = {
  GRAPHQL_PARSE_FAILED: 400,
  GRAPHQL_VALIDATION_FAILED: 400,
  PERSISTED_QUERY_NOT_SUPPORTED: 400,
  QUERY_LIMIT_EXCEEDED: 400,
  BAD_USER_INPUT: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  UNPROCESSABLE: 422,
  RATE_LIMITED: 429,
  PROVIDER_ERROR: 502,
  SERVICE_UNAVAILABLE: 503,
  INTERNAL_ERROR: 500,
} as const;
export type ErrorCode = keyof typeof ERROR_STATUS;

const TITLES: Record<ErrorCode, string> = {
  GRAPHQL_PARSE_FAILED: 'Bad Request',
  GRAPHQL_VALIDATION_FAILED: 'Bad Request',
  PERSISTED_QUERY_NOT_SUPPORTED: 'Persisted Query Not Supported',
  QUERY_LIMIT_EXCEEDED: 'Query Limit Exceeded',
  BAD_USER_INPUT: 'Bad Request',
  UNAUTHENTICATED: 'Unauthenticated',
  FORBIDDEN: 'Forbidden',
  NOT_FOUND: 'Not Found',
  CONFLICT: 'Conflict',
  UNPROCESSABLE: 'Unprocessable',
  RATE_LIMITED: 'Too Many Requests',
  PROVIDER_ERROR: 'Provider Error',
  SERVICE_UNAVAILABLE: 'Service Unavailable',
  INTERNAL_ERROR: 'Internal Server Error',
};

/** What can be wrong with one input, with its title. */
const ISSUE_TITLES = {
  'missing-value': 'Missing Value',
  'unknown-name': 'Unknown Name',
  'wrong-type': 'Wrong Type',
  'out-of-range': 'Out of Range',
  'invalid-value': 'Invalid Value',
} as const;
export type IssueKind = keyof typeof ISSUE_TITLES;

/** One offending input. */
export interface Issue {
  /** Default: `invalid-value`. */
  kind?: IssueKind;
  in: 'path' | 'query' | 'header' | 'body';
  /** Path inside the input: `input.latestRevision.content.read.objects[0].schedule`. */
  name: string;
  detail: string;
  /** Left out if the value is a secret. */
  value?: unknown;
}

/** An issue as answers show it. */
export interface ShownIssue extends Omit<Issue, 'kind'> {
  type: string;
  title: string;
}

/** The platform's error document (RFC 9457 with issues). */
export interface Problem {
  type: string;
  /** The page about problems of this type. */
  readonly href: string;
  title: string;
  status: number;
  detail: string;
  instance?: string;
  issues?: ShownIssue[];
  [extra: string]: unknown;
}

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
    return problemOf(this.code, this.message, { issues: this.issues, ...this.extra });
  }
}

export function problemOf(
  code: ErrorCode,
  detail: string,
  { issues, ...extra }: { issues?: Issue[] | undefined; [extra: string]: unknown } = {},
): Problem {
  const name = problemName(code);
  return {
    type: `${TYPES}${name}`,
    // Told when it is read: some problems are made before the gateway knows its address.
    get href() {
      return `${gatewayUrl()}${PROBLEM_PAGES}/${name}`;
    },
    title: TITLES[code],
    status: ERROR_STATUS[code],
    detail,
    ...(issues && { issues: issues.map(shownIssue) }),
    ...extra,
  };
}

const TYPES = 'urn:problem:';

let gatewayUrl = () => 'http://localhost';

/** Where browsers reach the gateway: a process has one such address, whatever refuses a request. */
export function linkProblemsTo(publicUrl: () => string): void {
  gatewayUrl = publicUrl;
}

/** Each type has a page below it: server/problem-page.ts. */
export const PROBLEM_PAGES = '/problems';

export function problemTitle(code: ErrorCode): string {
  return TITLES[code];
}

/** `bad-user-input` */
export function problemName(code: ErrorCode): string {
  return code.toLowerCase().replaceAll('_', '-');
}

function shownIssue({ kind = 'invalid-value', ...issue }: Issue): ShownIssue {
  return { type: `${TYPES}${kind}`, title: ISSUE_TITLES[kind], ...issue };
}

/**
 * Something that the gateway needs has failed and is expected back; `cause` says what. This is no refusal: work
 * that ends at a DomainError is retried after this. It has no `code`, because Prisma would treat it as an error of
 * its own.
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
    return problemOf('SERVICE_UNAVAILABLE', message, { retryAfterSeconds });
  }
}

export interface Unavailability {
  cause: unknown;
  retryAfterSeconds: number;
}

/** Far more than a person fixes at once; bounds the size of an answer. */
export const ISSUES_MAX = 1_000;
const ISSUES_IN_WORDS = 20;

/** Input that is refused: names every offending place at once. */
export function invalidInput(issues: Issue[], extra: Record<string, unknown> = {}): DomainError {
  const names = issues.slice(0, ISSUES_IN_WORDS).map((issue) => `${issue.name}: ${issue.detail}`);
  const more = issues.length - names.length;
  // Those who collect them stop there.
  const count = issues.length < ISSUES_MAX ? more : `at least ${more}`;
  const words = [...names, ...(more > 0 ? [`And ${count} more.`] : [])].join(' ');
  return new DomainError('BAD_USER_INPUT', `Invalid input. ${words}`, {
    ...extra,
    issues: issues.slice(0, ISSUES_MAX),
  });
}

/** Shorthand for a single offending input of a request body. */
export function invalid(name: string, detail: string, value?: unknown): DomainError {
  return invalidInput([{ in: 'body', name, detail, ...(value === undefined ? {} : { value }) }]);
}

/** Nothing of that name exists for this caller, whether or not it does for another. */
export function notFound(what: string, id: string): DomainError {
  return new DomainError('NOT_FOUND', `${what} ${JSON.stringify(id)} was not found.`);
}

export function conflict(detail: string): DomainError {
  return new DomainError('CONFLICT', detail);
}

export function unprocessable(detail: string): DomainError {
  return new DomainError('UNPROCESSABLE', detail);
}

export function unauthenticated(detail: string): DomainError {
  return new DomainError('UNAUTHENTICATED', detail);
}

/** Refuses a caller who showed no credentials. */
export function withoutCredentials(): DomainError {
  return unauthenticated('Send an API key as X-Api-Key, or a bearer token as Authorization.');
}

export function forbidden(detail: string): DomainError {
  return new DomainError('FORBIDDEN', detail);
}

export function rateLimited(detail: string, retryAfterSeconds: number): DomainError {
  return new DomainError('RATE_LIMITED', detail, { retryAfterSeconds });
}

/** Masks an unexpected error and logs it; both have the same instance. `about` says where it happened. */
export function maskedError(log: Log, error: unknown, about: object): DomainError {
  const instance = `urn:uuid:${randomUUID()}`;
  log.error({ err: error, instance, ...about }, 'error.internal');
  const detail =
    'The gateway failed. Give the operator the `instance`: it finds the error in the log.';
  return new DomainError('INTERNAL_ERROR', detail, { instance });
}

/** The server refuses to start. The message tells the operator why, and what to do. */
export class StartRefused extends Error {
  override name = 'StartRefused';
}
