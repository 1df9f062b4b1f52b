/** One project with one of everything, for all rules. What a rule does not ask for is not made. */
import type { App } from '../../../src/app.ts';
import { sharedApp, type TestApp } from '../app.ts';
import { type RestClient, restClient, restTenant } from '../rest/rest-client.ts';
import { createIntegration, type RestInstallation } from '../rest/rest-installation.ts';
import { generate } from '../scenes/connections.ts';
import { contentFor, insertDestination, installFor } from '../scenes/integrations.ts';
import { wholeContent } from './contents.ts';
import { type Made, makings } from './makings.ts';

export interface Scene extends RestInstallation {
  app: TestApp;
  services: App['services'];
  made: Made;
  /** How far the gateway's clock is ahead; a rule that sets it sets it back. */
  clock: { aheadMs: number };
  /** Without a key or a token. */
  stranger: RestClient;
  /** The input of a write to the contacts of the group acme, and its path over REST. */
  graphqlWrite(given: object): Record<string, unknown>;
  objectPath: string;
  /** Of the contacts of the group acme. */
  metadataQuery(selection: string, parameters?: string): string;
  /** The id of a new topic. */
  freshTopic(): Promise<string>;
  /** A name that nothing has yet. */
  fresh(prefix: string): string;
}

/** Enough for all that the rules ask for. */
const RATES = { RATE_LIMIT_PER_SECOND: '100000', RATE_LIMIT_BURST: '100000' };

export async function conformanceScene(): Promise<Scene> {
  const clock = { aheadMs: 0 };
  const now = () => new Date(Date.now() + clock.aheadMs);
  const app = await sharedApp({ env: RATES, now });
  const rest = await installed(app);
  let count = 0;
  const fresh = (prefix: string) => {
    count += 1;
    return `${prefix}-${count}`;
  };
  const stranger = restClient(app, {});
  const { services } = app.app;
  const whole = { ...rest, app, services, stranger, fresh, clock };
  const { integrationPath, installation, tenant } = rest;
  return {
    ...whole,
    made: makings(whole),
    metadataQuery: (selection, parameters = '') => `{
      objectMetadata(projectIdOrName: "${tenant.projectName}", provider: "sandbox", groupRef: "acme",
        objectName: "contacts"${parameters}) { ${selection} }
    }`,
    freshTopic: async () => (await rest.post(`${rest.base}/topics`, { name: fresh('topic') })).id,
    objectPath: `${integrationPath}/objects/contacts`,
    graphqlWrite: (given) => ({
      projectIdOrName: tenant.projectName,
      integrationIdOrName: installation.integrationId,
      objectName: 'contacts',
      groupRef: 'acme',
      ...given,
    }),
  };
}

/** Installed for the group acme; contacts may be deleted. */
async function installed(app: TestApp): Promise<RestInstallation> {
  const rest = await restTenant(app, 'conformance');
  await insertDestination(app, rest.tenant);
  const integrationByName = await createIntegration(rest, contentFor('crm', wholeContent));
  const integration = await rest.get(integrationByName);
  const write = [{ objectName: 'contacts', deletionEnabled: true }];
  const read = [{ objectName: 'contacts' }];
  const made = await installFor(rest.tenant, integration, { config: { read, write } });
  const { id: connectionId } = await generate(rest.tenant, { apiKey: 'sandbox-key' });
  const integrationPath = `${rest.base}/integrations/${integration.id}`;
  const installationPath = `${integrationPath}/installations/${made.id}`;
  const installation = await rest.get(installationPath);
  return { ...rest, integrationPath, installationPath, installation, connectionId };
}
