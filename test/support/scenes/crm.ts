/** Creates installations at HubSpot and Salesforce, with test servers in their place. */
import { afterAll } from 'vitest';
import type { Provider } from '../../../src/providers/contract.ts';
import { hubspotProvider } from '../../../src/providers/hubspot/hubspot-provider.ts';
import { salesforceProvider } from '../../../src/providers/salesforce/salesforce-provider.ts';
import { sharedApp, type TestApp } from '../app.ts';
import { startHubspotServer } from '../providers/hubspot-server.ts';
import { startSalesforceServer } from '../providers/salesforce-server.ts';
import { type RestTenant, restTenant } from '../rest/rest-client.ts';
import { generateConnection } from './connections.ts';
import { CREATE_INSTALLATION, insertDestination, integrate } from './integrations.ts';

type Crm = 'hubspot' | 'salesforce';

/**
 * Starts both test servers, and an app for all tests of a file that uses them. `others` are further
 * providers.
 */
export async function startCrmApp(otherProviders: Provider[] = []) {
  const [hubspot, salesforce] = await Promise.all([startHubspotServer(), startSalesforceServer()]);
  const app = await sharedApp({
    env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
    providers: [
      hubspotProvider({ baseUrl: hubspot.url }),
      salesforceProvider({ baseUrl: salesforce.url }),
      ...otherProviders,
    ],
  });
  afterAll(async () => {
    await hubspot[Symbol.asyncDispose]();
    await salesforce[Symbol.asyncDispose]();
  });
  return { app, hubspot, salesforce };
}

/** Creates a tenant whose group `acme` has connected its account. */
export async function connectCrm(app: TestApp, provider: Crm): Promise<RestTenant> {
  const rest = await restTenant(app);
  await insertDestination(app, rest.tenant);
  await generateConnection(rest.tenant, {
    provider,
    providerWorkspaceRef: 'acme',
    oauth2AuthorizationCode: { accessToken: { token: `${provider}-token` }, scopes: [] },
  });
  return rest;
}

/** Connects the account, creates the integration `crm` with this content, and installs it for the group. */
export async function installCrm(
  app: TestApp,
  provider: Crm,
  { content, config }: { content: object; config?: object },
): Promise<RestTenant & { installationId: string }> {
  const rest = await connectCrm(app, provider);
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
