/**
 * The metadata of MCP servers as OAuth protected resources (RFC 9728). It names the issuer whose tokens builders send. Tokens
 * of end users and agents are created by the API and have no authorization server.
 */
import type { FastifyInstance } from 'fastify';
import type { Services } from '../../domain/call.ts';
import type { RequestMetadata } from '../http/request-metadata.ts';

export const METADATA_PATH = '/.well-known/oauth-protected-resource';

type Urls = Pick<Services, 'publicUrl'>;

/** The metadata does not depend on the project, so that it does not reveal which projects exist. */
export function registerResourceMetadata(scope: FastifyInstance, services: Services): void {
  const { BEARER_ISSUER: issuer } = services.config;
  scope.get<{ Params: { projectIdOrName: string } }>(
    '/mcp/projects/:projectIdOrName',
    async ({ metadata, params: { projectIdOrName } }) => ({
      resource: `${findBaseUrl(services, metadata)}${formatPath(projectIdOrName)}`,
      ...(issuer && { authorization_servers: [issuer] }),
      bearer_methods_supported: ['header'],
      resource_name: 'Integration gateway',
    }),
  );
}

export function formatMetadataUrl(
  services: Urls,
  metadata: RequestMetadata,
  projectIdOrName: string,
): string {
  return `${findBaseUrl(services, metadata)}${METADATA_PATH}${formatPath(projectIdOrName)}`;
}

function findBaseUrl({ publicUrl }: Urls, { gatewayUrl }: RequestMetadata): string {
  return gatewayUrl ?? publicUrl();
}

function formatPath(projectIdOrName: string): string {
  return `/mcp/projects/${encodeURIComponent(projectIdOrName)}`;
}
