/** Converts errors into problem documents, and sends them. */
import type { FastifyError, FastifyReply } from 'fastify';
import {
  createMaskedError,
  createProblem,
  DomainError,
  getHttpRefusal,
  type Problem,
  ServiceUnavailable,
} from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { PROBLEM_TYPE } from '../openapi/openapi.ts';

/** Details of Fastify's own refusals, by its error codes. They repeat nothing from the request. */
const FASTIFY_REFUSALS: Record<string, string> = {
  FST_ERR_BAD_URL: 'The path is not a valid URL path.',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body exceeds LIMIT_BODY_BYTES of the server.',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'Send the body as application/json.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The length of the body differs from Content-Length.',
  FST_ERR_MAX_PARAM_LENGTH: 'A segment of the path is too long.',
  FST_ERR_REQ_ABORTED: 'The request ended before its body was complete.',
};

/**
 * Returns the problem of an error. An unexpected error is masked, and its log line has the `instance` of the problem.
 */
export function toProblem(
  error: unknown,
  { log, route }: { log: Log; route: string | undefined },
): Problem {
  if (error instanceof DomainError || error instanceof ServiceUnavailable) return error.problem;
  return findHttpRefusal(error) ?? createMaskedError(log, error, { route }).problem;
}

/** Returns the problem of a request that Fastify or one of its plugins refuses. Null for any other error. */
export function findHttpRefusal(error: unknown): Problem | null {
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  if (LONG_NAME_CODES.includes(code)) return createProblem('NOT_FOUND', NO_FILE_DETAIL);
  const isFromFastify = code.startsWith('FST_') || isHttpErrors(error);
  if (!isFromFastify || statusCode < 400 || statusCode >= 500) return null;
  // A path outside of the folder is not revealed to be different from a missing file.
  if (statusCode === 403 || statusCode === 404) return createProblem('NOT_FOUND', NO_FILE_DETAIL);
  const { code: problemCode, extra } = getHttpRefusal(statusCode);
  return createProblem(problemCode, FASTIFY_REFUSALS[code] ?? OTHER_DETAIL, extra);
}

/** Errors of the file system for names that no file can have. */
const LONG_NAME_CODES = ['ENAMETOOLONG', 'ENOTDIR'];
const NO_FILE_DETAIL = 'There is no file at this path.';
const OTHER_DETAIL = 'The path or a header of the request is not valid here.';

/** True for an error of the package http-errors, which @fastify/static uses. */
function isHttpErrors(error: unknown): boolean {
  return error instanceof Error && 'expose' in error && 'status' in error;
}

export function createProblemHeaders(
  { status, retryAfterSeconds }: Problem,
  challenge = 'Bearer',
): Record<string, string> {
  if (status === 401) return { 'www-authenticate': challenge };
  if (typeof retryAfterSeconds === 'number') return { 'retry-after': String(retryAfterSeconds) };
  return {};
}

/** Sends a problem document. `challenge` is the value of `WWW-Authenticate` in a 401. */
export function sendProblem(
  reply: FastifyReply,
  problem: Problem,
  challenge = 'Bearer',
): FastifyReply {
  return (
    reply
      .code(problem.status)
      .headers(createProblemHeaders(problem, challenge))
      .type(PROBLEM_TYPE)
      // Fastify's own serializer would add a charset, which the media type does not define.
      .serializer(JSON.stringify)
      .send(problem)
  );
}
