import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { inTransaction } from '../../../../src/database/transactions/transaction.ts';
import { replaceSecrets } from '../../../../src/domain/data/provider-event/subscription-secret.ts';
import { listSealedColumns, reencrypt } from '../../../../src/domain/tenants/keys/re-encryption.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { createVault } from '../../../../src/kernel/secrets.ts';
import { getSharedApp } from '../../../support/app.ts';
import { toQuery } from '../../../support/database/query.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import { CREATE_DESTINATION } from '../../../support/fixtures/integrations.ts';

const oldKey = randomBytes(32);
const app = await getSharedApp({ env: { ENCRYPTION_KEY: oldKey.toString('base64') } });
const query = toQuery(app.app.services.database);

async function listSealedValues() {
  const values = await Promise.all(
    listSealedColumns().map(async ({ table, column }) => {
      const sealedRows = await query<{ id: string; projectId: string; sealed: string }>(
        `select "id", "projectId", "${column}" as sealed from "${table}" where "${column}" is not null`,
        [],
      );
      return sealedRows.map(({ id, projectId, sealed }) => ({
        sealed,
        location: { table, column, row: id, projectId },
      }));
    }),
  );
  return values.flat();
}

async function storeVendorSecret(projectId: string) {
  const { services } = app.app;
  const key = { projectId, installationId: newId('ins'), objectName: 'lead' };
  const row = { ...key, provider: 'close', connectionId: newId('con'), kinds: [] };
  await services.database.prisma.objectSubscription.create({ data: row });
  const identity = { providerAppId: newId('app'), account: row.connectionId };
  const secrets = ['secret of the vendor'];
  await inTransaction(services.database, (tx) =>
    replaceSecrets(services, tx, key, { id: newId('sec'), ...identity, secrets }),
  );
}

test('re-encrypts every secret once with the current key, and keeps its value', async () => {
  const tenant = await app.createTenant();
  await generateConnection(tenant, { apiKey: 'sandbox-key-of-acme' });
  const { signingSecret } = (
    await tenant.query(CREATE_DESTINATION, {
      input: {
        projectIdOrName: tenant.projectId,
        name: 'hook',
        type: 'WEBHOOK',
        url: 'https://hooks.example/x?token=in-the-query',
        headers: { 'X-Key': 'in-a-header' },
      },
    })
  ).createDestination;
  await storeVendorSecret(tenant.projectId);
  const sealedBefore = await listSealedValues();
  const tables = sealedBefore.map(({ location }) => location.table);
  expect(tables.toSorted()).toEqual([
    'Connection',
    ...Array(3).fill('Destination'),
    'SubscriptionSecret',
  ]);

  const currentKey = randomBytes(32);
  const vaultOfBothKeys = createVault([currentKey, oldKey]);
  expect(await reencrypt(app.app.services.database.run, vaultOfBothKeys)).toBe(5);
  const currentVault = createVault([currentKey]);
  const openedValues = (await listSealedValues()).map(({ sealed, location }) =>
    currentVault.open(sealed, location),
  );
  expect(openedValues).toEqual(
    sealedBefore.map(({ sealed, location }) => vaultOfBothKeys.open(sealed, location)),
  );
  expect(openedValues.join(' ')).toContain('sandbox-key-of-acme');
  expect(openedValues).toContain(signingSecret);
  expect(openedValues).toContain('["secret of the vendor"]');
  expect(openedValues).toContain('https://hooks.example/x?token=in-the-query');
  expect(openedValues).toContain('{"X-Key":"in-a-header"}');
  expect(await reencrypt(app.app.services.database.run, vaultOfBothKeys)).toBe(0);
});

test('finds every column with sealed values', () => {
  const names = listSealedColumns().map(({ table, column }) => `${table}.${column}`);
  expect(names).toEqual(
    expect.arrayContaining([
      'ProviderApp.clientSecretSealed',
      'Connection.credentialsSealed',
      'Destination.signingSecretSealed',
      'Destination.previousSecretSealed',
      'Destination.urlSealed',
      'Destination.headersSealed',
      'OAuthConnect.codeVerifierSealed',
      'SubscriptionSecret.secretsSealed',
    ]),
  );
});
