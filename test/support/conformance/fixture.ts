/** One project for all rules, with one of each resource. A resource is created when a rule first needs it. */
import type { App } from '../../../src/app.ts';
import { getSharedApp, HIGH_RATE_LIMITS, type TestApp } from '../app.ts';
import { generateConnection } from '../fixtures/connections.ts';
import {
  connectAndInstall,
  createIntegrationContent,
  insertDestination,
} from '../fixtures/integrations.ts';
import { toGraphqlInput } from '../inputs/graphql-input.ts';
import { createRestClient, createRestTenant, type RestClient } from '../rest/rest-client.ts';
import { createRestIntegration, type RestInstallation } from '../rest/rest-installation.ts';
import { completeContent } from './contents.ts';
import { createResources, type Resources } from './fixture-resources.ts';

export interface Fixture extends RestInstallation {
  app: TestApp;
  services: App['services'];
  resources: Resources;
  /** How far the gateway's clock is ahead. A rule that changes it must reset it. */
  clock: { aheadMs: number };
  /** A client without credentials. */
  anonymous: RestClient;
  /** Returns the input of a write to the contacts of the group `acme`. `objectPath` is its path over REST. */
  createWriteInput(members: object): Record<string, unknown>;
  objectPath: string;
  /** Returns a query for the metadata of the contacts of the group `acme`. */
  createMetadataQuery(selection: string, parameters?: string): string;
  /** Creates a topic and returns its ID. */
  createTopic(): Promise<string>;
  /** Returns a name that no other resource has. */
  createUniqueName(prefix: string): string;
}

export async function createConformanceFixture(): Promise<Fixture> {
  const clock = { aheadMs: 0 };
  const now = () => new Date(Date.now() + clock.aheadMs);
  const app = await getSharedApp({ env: HIGH_RATE_LIMITS, now });
  const rest = await createInstallation(app);
  let count = 0;
  const createUniqueName = (prefix: string) => {
    count += 1;
    return `${prefix}-${count}`;
  };
  const anonymous = createRestClient(app, {});
  const { services } = app.app;
  const context = { ...rest, app, services, anonymous, createUniqueName, clock };
  const { integrationPath, installation, tenant } = rest;
  return {
    ...context,
    resources: createResources(context),
    createMetadataQuery: (selection, parameters = '') => `{
      objectMetadata(projectIdOrName: "${tenant.projectName}", provider: "sandbox", groupRef: "acme",
        objectName: "contacts"${parameters}) { ${selection} }
    }`,
    createTopic: async () =>
      (await rest.post(`${rest.base}/topics`, { name: createUniqueName('topic') })).id,
    objectPath: `${integrationPath}/objects/contacts`,
    createWriteInput: (members) =>
      toGraphqlInput({
        projectIdOrName: tenant.projectName,
        integrationIdOrName: installation.integrationId,
        objectName: 'contacts',
        groupRef: 'acme',
        ...members,
      }),
  };
}

/** Creates an integration and installs it for the group `acme`. Contacts may be deleted. */
async function createInstallation(app: TestApp): Promise<RestInstallation> {
  const rest = await createRestTenant(app, 'conformance');
  await insertDestination(app, rest.tenant);
  const integrationByName = await createRestIntegration(
    rest,
    createIntegrationContent('crm', completeContent),
  );
  const integration = await rest.get(integrationByName);
  const write = [{ objectName: 'contacts', deletionEnabled: true }];
  const read = [{ objectName: 'contacts' }];
  const created = await connectAndInstall(rest.tenant, integration, { config: { read, write } });
  const { id: connectionId } = await generateConnection(rest.tenant, { apiKey: 'sandbox-key' });
  const integrationPath = `${rest.base}/integrations/${integration.id}`;
  const installationPath = `${integrationPath}/installations/${created.id}`;
  const installation = await rest.get(installationPath);
  return { ...rest, integrationPath, installationPath, installation, connectionId };
}
