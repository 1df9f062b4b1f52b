/** Creates, through the gateway, a project whose installation subscribes to the sent events. */
import type pg from 'pg';
import { type Execute, runMutation } from '../../bench-project.ts';

export interface Subscribed {
  providerAppId: string;
  /** The account in the events that identifies the connection. */
  account: string;
  installationId: string;
}

export const SECRET = 'secret of the provider';
const NAME = 'crm';
const ENABLED = { enabled: 'ALWAYS' };

export async function subscribe(
  execute: Execute,
  client: pg.Client,
  receiverUrl: string,
): Promise<Subscribed> {
  const create = async (name: string, input: object, noun: string): Promise<string> =>
    (await runMutation(execute, name, input, `${noun} { id }`))[noun].id;
  await create(
    'createDestination',
    { name: 'records', type: 'WEBHOOK', url: receiverUrl },
    'destination',
  );
  const secrets = { clientId: 'client', clientSecret: 'secret', webhookSecret: SECRET };
  const providerAppId = await create(
    'createProviderApp',
    { provider: 'sandbox', ...secrets },
    'providerApp',
  );
  const read = {
    objectName: 'contacts',
    destination: 'records',
    requiredFields: [{ fieldName: 'email' }],
  };
  const subscribed = {
    objectName: 'contacts',
    inheritFieldsAndMapping: true,
    deleteEvent: ENABLED,
  };
  const content = {
    name: NAME,
    provider: 'sandbox',
    read: { objects: [read] },
    subscribe: { objects: [subscribed] },
  };
  const latestRevision = { specVersion: '1.0.0', content };
  await create(
    'createIntegration',
    { name: NAME, provider: 'sandbox', latestRevision },
    'integration',
  );
  const customer = { groupRef: 'acme', consumerRef: 'ann', provider: 'sandbox' };
  const account = await create(
    'generateConnection',
    { ...customer, credentials: { apiKey: 'sandbox-key' } },
    'connection',
  );
  const installation = { integrationIdOrName: NAME, groupRef: 'acme' };
  const installationId = await create('createInstallation', installation, 'installation');
  // Marks the subscription as set up, because the benchmark sends the events itself.
  await client.query(
    `update "ObjectSubscription" set "providerAppId" = $1, "account" = $2, "status" = 'ACTIVE', "dueTime" = null`,
    [providerAppId, account],
  );
  return { providerAppId, account, installationId };
}
