/** The route /mcp/projects/{projectIdOrName}: the MCP server of a project. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createProblem } from '../../errors.ts';
import { sendProblem, toProblem } from '../../rest/endpoint/rest-errors.ts';
import type { Gateway } from '../../rest/endpoint/run-request.ts';
import { refuseOtherMethods } from '../http/refuse-methods.ts';
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
    return serveMcp(gateway, request, { projectIdOrName, message });
  });
  refuseOtherMethods(scope, PROJECT_PATH, ['POST']);
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
