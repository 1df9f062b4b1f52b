/** Prepares a due backfill of a large Salesforce org, and a receiver of its records. */
import { onTestFinished } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import { testApp, testDatabase } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import {
  CREATE_INSTALLATION,
  CREATE_INTEGRATION,
  contentFor,
} from '../../support/fixtures/integrations.ts';
import type { ProviderServer } from '../../support/providers/provider-server.ts';
import { databaseUrl, ENCRYPTION_KEY } from './gateway.ts';
import { startLargeOrg } from './large-org.ts';
import { type RecordReceiver, startRecordReceiver } from './record-receiver.ts';

export interface BackfillScene {
  database: Database;
  org: ProviderServer;
  receiver: RecordReceiver;
  /** Settings of a gateway that runs the backfill. */
  env: Record<string, string>;
}

export interface Backfill {
  accounts: number;
  /** Accounts in a page. Default: the provider's page size. */
  pageSize?: number;
  /** Number of pending deliveries at which the read waits. */
  pendingMax: number;
}

export async function prepareBackfill(backfill: Backfill): Promise<BackfillScene> {
  const database = await testDatabase();
  const org = await startLargeOrg(backfill.accounts);
  const receiver = await startRecordReceiver(backfill.accounts);
  onTestFinished(async () => {
    await org[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
  const env = {
    DATABASE_URL: await databaseUrl(database),
    ROLES: 'api,worker',
    ENCRYPTION_KEY,
    SALESFORCE_BASE_URL: org.url,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    LIMIT_PENDING_DELIVERIES: String(backfill.pendingMax),
    DELIVERY_RETRY_SECONDS: Array(20).fill(1).join(),
  };
  const scene = { database, org, receiver, env };
  await install(scene, backfill);
  await database.prisma.installedObject.updateMany({ data: { nextReadTime: new Date(0) } });
  return scene;
}

const CREATE_DESTINATION = `mutation ($input: CreateDestinationInput!) {
  createDestination(input: $input) { destination { id } }
}`;

/** Installs the integration through the API, on a server without background work. */
async function install(scene: BackfillScene, { pageSize }: Backfill): Promise<void> {
  const { env, receiver } = scene;
  const database = { ...scene.database, [Symbol.asyncDispose]: async () => {} };
  await using app = await testApp({ env, database });
  const tenant = await app.tenant();
  const projectIdOrName = tenant.projectId;
  const destination = { projectIdOrName, name: 'records', type: 'WEBHOOK', url: receiver.url };
  await tenant.query(CREATE_DESTINATION, { input: destination });
  const latestRevision = { specVersion: '1.0.0', content: content(pageSize) };
  await tenant.query(CREATE_INTEGRATION, {
    input: { projectIdOrName, name: 'crm', provider: 'salesforce', latestRevision },
  });
  await generateConnection(tenant, {
    provider: 'salesforce',
    providerWorkspaceRef: 'acme',
    oauth2AuthorizationCode: { accessToken: { token: 'a-token' } },
  });
  const installation = { projectIdOrName, integrationIdOrName: 'crm', groupRef: 'acme' };
  // The server of the large org has no descriptions of objects.
  const input = { ...installation, skipSampling: true };
  await tenant.query(CREATE_INSTALLATION, { input });
}

function content(pageSize: number | undefined) {
  const fields = ['name', 'website', 'phone', 'description'];
  const object = {
    objectName: 'Account',
    destination: 'records',
    // A schedule that is due once a year, so that the backfill is the only read.
    schedule: '0 0 1 1 *',
    requiredFields: fields.map((fieldName) => ({ fieldName })),
    ...(pageSize && { delivery: { pageSize } }),
  };
  return contentFor('crm', { provider: 'salesforce', read: { objects: [object] } });
}
