/**
 * The errors that domain functions throw to refuse a request. Each code has one HTTP status and one problem document.
 * graphql/execution/graphql-errors.ts and rest/ turn them into responses.
 */
import { randomUUID } from 'node:crypto';
import { ERROR_STATUS, type ErrorCode, type Problem, type ProblemIssue } from './problem-schema.ts';
import {
  DEFAULT_SPELLING,
  formatPath,
  joinTexts,
  type MemberLocation,
  moveMembers,
  type Path,
  type PathMove,
  printParts,
  printText,
  type Spelling,
  type Text,
  text,
} from './text.ts';

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

/** Describes one invalid member of an input. */
export interface Issue {
  /** Default: `invalid-value`. */
  kind?: IssueKind;
  /**
   * The path in the function's own input: `['revision', 'content', 'read', 'objects', 0, 'schedule']`. A function that
   * embeds the input in its own moves the path (`moveIssues`).
   */
  path: Path;
  /** Set by a surface that has located the issue in its request. The path is then the one in that part. */
  in?: MemberLocation['in'];
  /** A predicate whose subject is the member, such as "is required." */
  detail: Text;
  /** Absent if the value is a secret. */
  value?: unknown;
  /** The position of the value in an input that is YAML or JSON text. Lines and columns count from 1. */
  line?: number;
  column?: number;
}

export { ERROR_STATUS, type ErrorCode, type Problem } from './problem-schema.ts';

interface DomainErrorMembers {
  issues?: Issue[] | undefined;
  [extra: string]: unknown;
}

export class DomainError extends Error {
  override name = 'DomainError';
  readonly code: ErrorCode;
  readonly detail: Text;
  readonly issues: Issue[] | undefined;
  /** Further members of the problem document. */
  readonly extra: Record<string, unknown>;
  readonly #spelling: Spelling;

  constructor(
    code: ErrorCode,
    detail: Text,
    { issues, ...extra }: DomainErrorMembers = {},
    spelling = DEFAULT_SPELLING,
  ) {
    super(printText(detail, spelling));
    this.code = code;
    this.detail = detail;
    this.issues = issues;
    this.extra = extra;
    this.#spelling = spelling;
  }

  get problem(): Problem {
    return createProblem(this.code, this.message, { issues: this.shownIssues, ...this.extra });
  }

  /** The issues as the callers of the surface read them. */
  get shownIssues(): ProblemIssue[] | undefined {
    return this.issues?.map((issue) => toProblemIssue(issue, this.#spelling));
  }

  /** Returns the error in the words of a surface. */
  spell(spelling: Spelling): DomainError {
    const { code, detail, issues, extra } = this;
    return new DomainError(code, detail, { ...extra, issues }, spelling);
  }

  /** Returns the error of a function whose input has the same members at other paths. */
  move(movePath: PathMove): DomainError {
    const { code, detail, extra } = this;
    const issues = this.issues && moveIssues(this.issues, movePath);
    return new DomainError(
      code,
      moveMembers(detail, movePath),
      { ...extra, issues },
      this.#spelling,
    );
  }
}

/** Returns a DomainError in the words of a surface, and any other error unchanged. */
export function spellError(error: unknown, spelling: Spelling): unknown {
  return error instanceof DomainError ? error.spell(spelling) : error;
}

/** Moves issues of an input to the paths that its members have in the caller's input. */
export function moveIssues(issues: readonly Issue[], movePath: PathMove): Issue[] {
  return issues.map((issue) => ({
    ...issue,
    path: movePath(issue.path),
    detail: moveMembers(issue.detail, movePath),
  }));
}

const TYPE_PREFIX = 'urn:problem:';

export function createProblem(
  code: ErrorCode,
  detail: string,
  { issues, ...extra }: { issues?: ProblemIssue[] | undefined; [extra: string]: unknown } = {},
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
    ...(issues && { issues }),
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

/** Returns an issue as the callers of a surface read it. */
export function toProblemIssue(
  { kind = 'invalid-value', path, in: part, detail, value, ...position }: Issue,
  spelling: Spelling = DEFAULT_SPELLING,
): ProblemIssue {
  const location = part ? { in: part, name: formatPath(path) || part } : spelling.locate(path);
  const shownValue = spelling.showValue?.(value, location) ?? value;
  return {
    type: `${TYPE_PREFIX}${kind}`,
    title: ISSUE_TITLES[kind],
    ...location,
    detail: `${describePosition(position)}${printText(detail, spelling)}`,
    ...(value !== undefined && { value: shownValue }),
    ...(spelling.showsParts &&
      (typeof detail !== 'string' || position.line !== undefined) && {
        parts: printParts(detail, spelling),
      }),
    ...position,
  };
}

function describePosition({ line, column }: Pick<Issue, 'line' | 'column'>): string {
  return line === undefined ? '' : `line ${line}, column ${column}: `;
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
  const sentences = issues.slice(0, ISSUES_IN_DETAIL).map(describeIssue);
  const omitted = issues.length - sentences.length;
  // The collectors of issues stop at ISSUES_MAX, so the real number may be higher.
  const count = issues.length < ISSUES_MAX ? omitted : `at least ${omitted}`;
  const detail = ['Invalid input.', ...sentences, ...(omitted > 0 ? [`And ${count} more.`] : [])];
  return new DomainError('BAD_USER_INPUT', joinTexts(detail, ' '), {
    ...extra,
    issues: issues.slice(0, ISSUES_MAX),
  });
}

/** Returns the sentence of an issue: its member, its position and its detail. */
export function describeIssue({ in: part, path, detail, line, column }: Issue): Text {
  // The path of a located issue is not one in the function's input, which a spelling would locate again.
  const subject = part ? formatPath(path) || part : { member: path };
  const position = line === undefined ? '' : ` (line ${line}, column ${column})`;
  return text`\`${subject}\`${position} ${detail}`;
}

/** Creates the error for a single invalid member of the input. */
export function invalid(path: Path, detail: Text, value?: unknown): DomainError {
  return invalidInput([{ path, detail, ...(value === undefined ? {} : { value }) }]);
}

/**
 * Creates the error for a row that does not exist or is outside the caller's scope. Both look the same to the caller.
 */
export function notFound(noun: string, id: string): DomainError {
  return new DomainError('NOT_FOUND', `${noun} ${JSON.stringify(id)} was not found.`);
}

export function conflict(detail: Text): DomainError {
  return new DomainError('CONFLICT', detail);
}

export function unprocessable(detail: Text, extra: { providerMessage?: string } = {}): DomainError {
  return new DomainError('UNPROCESSABLE', detail, extra);
}

export function unauthenticated(detail: string): DomainError {
  return new DomainError('UNAUTHENTICATED', detail);
}

/** Creates the error for a request without credentials. */
export function missingCredentials(): DomainError {
  return unauthenticated('Send an API key as X-Api-Key, or a bearer token as Authorization.');
}

export function forbidden(detail: Text): DomainError {
  return new DomainError('FORBIDDEN', detail);
}

export function rateLimited(detail: string, retryAfterSeconds: number): DomainError {
  return new DomainError('RATE_LIMITED', detail, { retryAfterSeconds });
}

/** Logs an unexpected error with these fields, and returns a masked error with the same `instance`. */
export function createMaskedError(
  log: { error(fields: object, message: string): void },
  error: unknown,
  fields: object,
): DomainError {
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
