/**
 * The metadata of MCP servers as OAuth protected resources (RFC 9728). It names the issuer of builders' tokens. Tokens
 * of end users and agents have no authorization server, because the API creates them.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Services } from '../../domain/access/call.ts';
import { getGatewayUrl } from '../http/gateway-url.ts';

export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** The metadata does not depend on the project, so that it does not reveal which projects exist. */
export function registerResourceMetadata(scope: FastifyInstance, services: Services): void {
  const { BEARER_ISSUER: issuer } = services.config;
  scope.get<{ Params: { projectIdOrName: string } }>(
    '/mcp/projects/:projectIdOrName',
    async (request) => ({
      resource: formatResource(services, request, request.params.projectIdOrName),
      ...(issuer && { authorization_servers: [issuer] }),
      bearer_methods_supported: ['header'],
      resource_name: 'Integration gateway',
    }),
  );
}

/** Returns the URL of a project's MCP server, which tokens may name as their audience (RFC 8707). */
function formatResource(
  services: Services,
  request: FastifyRequest,
  projectIdOrName: string,
): string {
  return `${getGatewayUrl(services, request)}${formatPath(projectIdOrName)}`;
}

/**
 * Returns the audience that tokens may have besides BEARER_AUDIENCE. Undefined if the gateway does not know its own URL:
 * the host of the request could then be that of another resource, which has received the token.
 */
export function findAudience(
  services: Services,
  request: FastifyRequest,
  projectIdOrName: string,
): string | undefined {
  return request.metadata.gatewayUrl === null
    ? formatResource(services, request, projectIdOrName)
    : undefined;
}

export function formatMetadataUrl(
  services: Services,
  request: FastifyRequest,
  projectIdOrName: string,
): string {
  return `${getGatewayUrl(services, request)}${METADATA_PATH}${formatPath(projectIdOrName)}`;
}

function formatPath(projectIdOrName: string): string {
  return `/mcp/projects/${encodeURIComponent(projectIdOrName)}`;
}
