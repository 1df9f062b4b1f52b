/** The route /mcp/projects/{projectIdOrName}: the MCP server of a project. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createProblem } from '../../errors.ts';
import { sendProblem, toProblem } from '../../rest/endpoint/rest-errors.ts';
import type { Gateway } from '../../rest/endpoint/run-request.ts';
import { sendResponse } from '../plain-page.ts';
import { formatMetadataUrl } from './resource-metadata.ts';
import { serveMcp } from './serve-mcp.ts';

/** The path of the MCP server of a project, below /mcp. */
const PROJECT_PATH = '/projects/:projectIdOrName';

interface ProjectRoute {
  Params: { projectIdOrName: string };
}

export function registerMcp(scope: FastifyInstance, gateway: Gateway): void {
  const { services } = gateway;
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) =>
    done(null, body),
  );
  scope.setErrorHandler((error, request: FastifyRequest, reply) => {
    const { projectIdOrName = '' } = request.params as Partial<ProjectRoute['Params']>;
    const url = formatMetadataUrl(services, request, projectIdOrName);
    const problem = toProblem(error, { log: services.log, route: request.routeOptions.url });
    return sendProblem(reply, problem, `Bearer resource_metadata="${url}"`);
  });
  scope.post<ProjectRoute>(PROJECT_PATH, async (request, reply) => {
    const { projectIdOrName } = request.params;
    const message = parseMessage(request.body as string);
    if (Array.isArray(message)) return sendProblem(reply, createBatchProblem());
    return sendResponse(reply, await serveMcp(gateway, request, { projectIdOrName, message }));
  });
  scope.route({
    method: scope.supportedMethods.filter((method) => !['POST', 'OPTIONS'].includes(method)),
    url: PROJECT_PATH,
    onRequest: refuseMethod,
    handler: refuseMethod,
  });
}

/** Returns undefined for text that is not JSON. The SDK then refuses it. */
function parseMessage(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/** Batches are refused, because a batch would count as one request towards the caller's rate limit. */
const createBatchProblem = () =>
  createProblem('BAD_USER_INPUT', 'Send one JSON-RPC message in a request, not a batch.');

async function refuseMethod(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const problem = createProblem('METHOD_NOT_ALLOWED', 'The path accepts only the method POST.');
  return sendProblem(reply.header('allow', 'POST'), problem);
}
