/** Installations at HubSpot and Salesforce, with servers of the tests in their places. */
import { afterAll } from 'vitest';
import type { Provider } from '../../../src/providers/contract.ts';
import { hubspotProvider } from '../../../src/providers/hubspot/hubspot-provider.ts';
import { salesforceProvider } from '../../../src/providers/salesforce/salesforce-provider.ts';
import { sharedApp, type TestApp } from '../app.ts';
import { hubspotServer } from '../providers/hubspot-server.ts';
import { salesforceServer } from '../providers/salesforce-server.ts';
import { type RestTenant, restTenant } from '../rest/rest-client.ts';
import { generate } from './connections.ts';
import { CREATE_INSTALLATION, insertDestination, integrate } from './integrations.ts';

export type Crm = 'hubspot' | 'salesforce';

/** An app for all tests of a file that knows both and those given, and the servers that they are. */
export async function crmApp(others: Provider[] = []) {
  const [hubspot, salesforce] = await Promise.all([hubspotServer(), salesforceServer()]);
  const app = await sharedApp({
    env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
    providers: [
      hubspotProvider({ baseUrl: hubspot.url }),
      salesforceProvider({ baseUrl: salesforce.url }),
      ...others,
    ],
  });
  afterAll(async () => {
    await hubspot[Symbol.asyncDispose]();
    await salesforce[Symbol.asyncDispose]();
  });
  return { app, hubspot, salesforce };
}

/** A tenant whose group acme has connected its account. */
export async function connectedTo(app: TestApp, provider: Crm): Promise<RestTenant> {
  const rest = await restTenant(app);
  await insertDestination(app, rest.tenant);
  await generate(rest.tenant, {
    provider,
    providerWorkspaceRef: 'acme',
    oauth2AuthorizationCode: { accessToken: { token: `${provider}-token` }, scopes: [] },
  });
  return rest;
}

/** The same with an integration `crm` of that content, installed for the group. */
export async function installedAt(
  app: TestApp,
  provider: Crm,
  { content, config }: { content: object; config?: object },
): Promise<RestTenant & { installationId: string }> {
  const rest = await connectedTo(app, provider);
  await integrate(app, rest.tenant, { name: 'crm', provider, ...content });
  const input = {
    projectIdOrName: rest.tenant.projectId,
    integrationIdOrName: 'crm',
    groupRef: 'acme',
    ...(config && { config }),
  };
  const { createInstallation } = await rest.tenant.query(CREATE_INSTALLATION, { input });
  return { ...rest, installationId: createInstallation.installation.id };
}
