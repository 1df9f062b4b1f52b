/** Creates installations that subscribe to contacts of a Salesforce org, in which a test changes records. */
import { expect } from 'vitest';
import { createSigningSecret, sealSigningSecret } from '../../../src/deliveries/signing-secret.ts';
import type { Tenant, TestApp } from '../app.ts';
import type { ServerCertificate } from '../outbound/certificates.ts';
import { type PubSubServer, pubSubServer } from '../providers/salesforce-pubsub.ts';
import { type SalesforceServer, startSalesforceServer } from '../providers/salesforce-server.ts';
import { generateConnection } from './connections.ts';
import { CREATE_INSTALLATION, contentFor, integrate } from './integrations.ts';
import { type Entry, POLLING, SUBSCRIPTIONS } from './subscriptions.ts';

const CREATE_APP = `mutation ($input: CreateProviderAppInput!) {
  createProviderApp(input: $input) { providerApp { id webhookUrl webhookInstructions } }
}`;
const WORKSPACE = 'acme';

interface SalesforceOrg extends AsyncDisposable {
  rest: SalesforceServer;
  stream: PubSubServer;
  /** Settings of an app that calls this org. */
  env: Record<string, string>;
  /** Creates a record and publishes its change event. Returns its ID. */
  create(fields?: Record<string, unknown>, options?: { changedAt?: Date }): string;
  update(id: string, fields: Record<string, unknown>, parts?: Record<string, unknown>): void;
  delete(id: string): void;
}

export async function startSalesforceOrg(tls?: ServerCertificate): Promise<SalesforceOrg> {
  const rest = await startSalesforceServer();
  const stream = await pubSubServer(rest, tls);
  const entityName = 'Contact';
  return {
    rest,
    stream,
    env: { SALESFORCE_BASE_URL: rest.url, SALESFORCE_PUBSUB_URL: stream.url },
    create(fields = {}, options = {}) {
      const id = rest.store.create(entityName, { LastName: 'Lovelace', ...fields }, options);
      stream.publish({ entityName, changeType: 'CREATE', recordIds: [id] });
      return id;
    },
    update(id, fields, parts = fields) {
      rest.store.update(entityName, id, fields);
      stream.publish({ entityName, changeType: 'UPDATE', recordIds: [id], fields: parts });
    },
    delete(id) {
      rest.store.delete(entityName, id);
      stream.publish({ entityName, changeType: 'DELETE', recordIds: [id] });
    },
    async [Symbol.asyncDispose]() {
      await stream[Symbol.asyncDispose]();
      await rest[Symbol.asyncDispose]();
    },
  };
}

export function contactsContent(name = 'crm', subscribe: object = {}) {
  const enabled = { enabled: 'ALWAYS' };
  return {
    ...contentFor(name),
    provider: 'salesforce',
    read: {
      objects: [
        {
          objectName: 'Contact',
          destination: 'records',
          mapToName: 'people',
          requiredFields: [{ fieldName: 'email', mapToName: 'address' }, { fieldName: 'lastname' }],
        },
      ],
    },
    subscribe: {
      objects: [
        {
          objectName: 'Contact',
          inheritFieldsAndMapping: true,
          ...{ createEvent: enabled, updateEvent: enabled, deleteEvent: enabled },
          ...subscribe,
        },
      ],
    },
  };
}

/**
 * Installs the integration for the group `acme`. Its messages go to an inbox of the sandbox. The app must be
 * started.
 */
export async function installOnOrg(
  app: TestApp,
  tenant: Tenant,
  org: SalesforceOrg,
  subscribeOverrides = {},
) {
  const { sandbox, services } = app.app;
  const { prisma } = services.database;
  const { projectId } = tenant;
  const client = { clientId: 'client', clientSecret: 'secret', provider: 'salesforce' };
  const appVariables = { input: { projectIdOrName: projectId, ...client } };
  const { providerApp } = (await tenant.query(CREATE_APP, appVariables)).createProviderApp;
  await integrate(app, tenant, contactsContent('crm', subscribeOverrides));
  const box = `box-${crypto.randomUUID()}`;
  const destination = await prisma.destination.findFirstOrThrow({ where: { projectId } });
  const secret = createSigningSecret();
  const sealed = sealSigningSecret(services.vault, destination, secret);
  const url = `${sandbox.url}/inbox/${box}`;
  await prisma.destination.updateMany({ where: { id: destination.id }, data: { url, ...sealed } });
  const token = org.rest.token();
  const { id: connectionId } = await generateConnection(tenant, {
    provider: 'salesforce',
    providerWorkspaceRef: WORKSPACE,
    oauth2AuthorizationCode: { accessToken: { token }, refreshToken: { token: 'refresh' } },
  });
  const input = { projectIdOrName: projectId, integrationIdOrName: 'crm', groupRef: 'acme' };
  const { id } = (await tenant.query(CREATE_INSTALLATION, { input: { ...input, connectionId } }))
    .createInstallation.installation;
  const subscriptions = async () => (await tenant.query(SUBSCRIPTIONS, { id })).node.subscriptions;
  const messages = (action: string) =>
    sandbox.inbox
      .list(box)
      .map((message) => ({ ...message, body: message.body as { action: string; result: Entry[] } }))
      .filter(({ body }) => body.action === action);
  const entries = (action = 'subscribe') => messages(action).flatMap(({ body }) => body.result);
  return {
    id,
    connectionId,
    providerApp,
    secret,
    subscriptions,
    messages,
    entries,
    waitUntilActive: () =>
      expect.poll(async () => (await subscriptions())[0]?.status, POLLING).toBe('ACTIVE'),
    async waitForEntries(count: number, action = 'subscribe') {
      await expect.poll(() => entries(action).length, POLLING).toBeGreaterThanOrEqual(count);
      return entries(action);
    },
  };
}
