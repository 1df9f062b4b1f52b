/**
 * The metadata of MCP servers as OAuth protected resources (RFC 9728). It names the issuer of builders' tokens. Tokens
 * of end users and agents have no authorization server, because the API creates them.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Services } from '../../domain/call.ts';
import { getGatewayUrl } from '../http/gateway-url.ts';

export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** The metadata does not depend on the project, so that it does not reveal which projects exist. */
export function registerResourceMetadata(scope: FastifyInstance, services: Services): void {
  const { BEARER_ISSUER: issuer } = services.config;
  scope.get<{ Params: { projectIdOrName: string } }>(
    '/mcp/projects/:projectIdOrName',
    async (request) => ({
      resource: `${getGatewayUrl(services, request)}${formatPath(request.params.projectIdOrName)}`,
      ...(issuer && { authorization_servers: [issuer] }),
      bearer_methods_supported: ['header'],
      resource_name: 'Integration gateway',
    }),
  );
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
