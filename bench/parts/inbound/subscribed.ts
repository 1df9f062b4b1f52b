/** A project whose installation subscribes to the sent events, created through the gateway. */
import type pg from 'pg';
import type { Ask } from '../moving/installed.ts';

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
  ask: Ask,
  client: pg.Client,
  { project, receiverUrl }: { project: string; receiverUrl: string },
): Promise<Subscribed> {
  const own = { projectIdOrName: project };
  const make = async (name: string, input: object, selection: string) => {
    const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
    const query = `mutation ($input: ${type}!) { ${name}(input: $input) { ${selection} { id } } }`;
    return (await ask(query, { ...own, ...input }))[name][selection].id as string;
  };
  await make(
    'createDestination',
    { name: 'records', type: 'WEBHOOK', url: receiverUrl },
    'destination',
  );
  const secrets = { clientId: 'client', clientSecret: 'secret', webhookSecret: SECRET };
  const providerAppId = await make(
    'createProviderApp',
    { provider: 'sandbox', ...secrets },
    'providerApp',
  );
  const read = {
    objectName: 'contacts',
    destination: 'records',
    requiredFields: [{ fieldName: 'email' }],
  };
  const wanted = { objectName: 'contacts', inheritFieldsAndMapping: true, deleteEvent: ENABLED };
  const content = {
    ...{ name: NAME, provider: 'sandbox' },
    read: { objects: [read] },
    subscribe: { objects: [wanted] },
  };
  const latestRevision = { specVersion: '1.0.0', content };
  await make(
    'createIntegration',
    { name: NAME, provider: 'sandbox', latestRevision },
    'integration',
  );
  const who = { groupRef: 'acme', consumerRef: 'ann', provider: 'sandbox' };
  const account = await make(
    'generateConnection',
    { ...who, credentials: { apiKey: 'sandbox-key' } },
    'connection',
  );
  const installing = { integrationIdOrName: NAME, groupRef: 'acme' };
  const installationId = await make('createInstallation', installing, 'installation');
  // Marks the subscription as set up, because the benchmark sends the events itself.
  await client.query(
    `update "ObjectSubscription" set "providerAppId" = $1, "account" = $2, "status" = 'ACTIVE', "dueTime" = null`,
    [providerAppId, account],
  );
  return { providerAppId, account, installationId };
}
