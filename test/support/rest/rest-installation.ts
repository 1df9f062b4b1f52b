/** Creates an integration and installs it for the group `acme` over REST. */
import type { TestApp } from '../app.ts';
import { generateConnection } from '../fixtures/connections.ts';
import {
  createIntegrationContent,
  insertDestination,
  toRevision,
} from '../fixtures/integrations.ts';
import { createRestTenant, type RestTenant } from './rest-client.ts';

export interface RestInstallation extends RestTenant {
  /** The path below /v1. */
  integrationPath: string;
  installationPath: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
  installation: any;
  connectionId: string;
}

/** Creates an integration with the content and its name. Returns its path. */
export async function createRestIntegration(
  rest: RestTenant,
  content = createIntegrationContent(),
) {
  const { name, provider } = content;
  const body = { name, provider, latestRevision: toRevision(content) };
  await rest.post(`${rest.base}/integrations`, body);
  return `${rest.base}/integrations/${name}`;
}

/** Creates a tenant with the destination that contents of integrations name. */
export async function createRestTenantWithDestination(app: TestApp): Promise<RestTenant> {
  const rest = await createRestTenant(app);
  await insertDestination(app, rest.tenant);
  return rest;
}

/** Installs an integration that reads and writes contacts of the sandbox. */
export async function createRestInstallation(
  app: TestApp,
  { content = {}, config }: { content?: object; config?: object } = {},
): Promise<RestInstallation> {
  const rest = await createRestTenantWithDestination(app);
  const write = { objects: [{ objectName: 'contacts' }] };
  const integrationPath = await createRestIntegration(
    rest,
    createIntegrationContent('crm', { write, ...content }),
  );
  const connection = await generateConnection(rest.tenant, { apiKey: 'sandbox-key' });
  const installation = await rest.post(`${integrationPath}/installations`, {
    groupRef: 'acme',
    ...(config && { config: { content: config } }),
  });
  const installationPath = `${integrationPath}/installations/${installation.id}`;
  const connectionId = connection.id;
  return { ...rest, integrationPath, installationPath, installation, connectionId };
}
