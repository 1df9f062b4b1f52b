/** Converts errors into problem documents, and sends them. */
import type { FastifyError, FastifyReply } from 'fastify';
import {
  createMaskedError,
  createProblem,
  DomainError,
  getHttpRefusal,
  type Problem,
  ServiceUnavailable,
} from '../../errors.ts';
import type { Log } from '../../log.ts';
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
  const { code = '', statusCode } = error as Partial<FastifyError>;
  const detail = FASTIFY_REFUSALS[code];
  if (detail && statusCode) {
    const { code: problemCode, extra } = getHttpRefusal(statusCode);
    return createProblem(problemCode, detail, extra);
  }
  return createMaskedError(log, error, { route }).problem;
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
