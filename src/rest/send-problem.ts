/** Sends a problem document. */
import type { FastifyReply } from 'fastify';
import type { Problem } from '../errors.ts';
import { headersOf } from './endpoint/rest-errors.ts';
import { PROBLEM_TYPE } from './openapi/openapi.ts';

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  return (
    reply
      .code(problem.status)
      .headers(headersOf(problem))
      .type(PROBLEM_TYPE)
      // Fastify's own serializer would add a charset, which the media type has no parameter for.
      .serializer(JSON.stringify)
      .send(problem)
  );
}
