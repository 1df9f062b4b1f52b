import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createProblem } from '../../kernel/errors.ts';
import { sendProblem } from '../../rest/endpoint/rest-errors.ts';

/** Refuses all other methods of a path with 405, before a body is read. */
export function refuseOtherMethods(scope: FastifyInstance, url: string, methods: string[]): void {
  const allow = methods.join(', ');
  const noun = methods.length === 1 ? 'method' : 'methods';
  const refuse = async (_request: FastifyRequest, reply: FastifyReply) => {
    const detail = `The path accepts only the ${noun} ${allow}.`;
    return sendProblem(reply.header('allow', allow), createProblem('METHOD_NOT_ALLOWED', detail));
  };
  scope.route({
    method: scope.supportedMethods.filter((method) => !methods.includes(method)),
    url,
    exposeHeadRoute: false,
    onRequest: refuse,
    handler: refuse,
  });
}
