/** Errors inside successful responses repeat secrets too. Providers mask them, and no record. */
import { expect, test } from 'vitest';
import type { Provider, ProviderSession } from '../../../src/providers/contract.ts';
import { createDeclarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { dynamicsCrm } from '../../../src/providers/declared/crm/dynamics-crm.ts';
import { createHubspotProvider } from '../../../src/providers/hubspot/hubspot-provider.ts';
import { createSalesforceProvider } from '../../../src/providers/salesforce/salesforce-provider.ts';
import { createMask } from '../../../src/work/secret-mask.ts';
import { getDeclaration } from '../../support/wire/declarations.ts';

const SECRET = 'secret-token-1';

function createSession(status: number, body: unknown): ProviderSession {
  return {
    baseUrl: 'https://vendor.example',
    findMetadata: () => 'value',
    now: () => new Date(),
    send: async () => ({ status, headers: {}, body, mask: createMask([SECRET]) }),
  };
}

const TEXT = `The token ${SECRET} is wrong`;

test.each<[string, Provider, number, unknown]>([
  [
    'HubSpot',
    createHubspotProvider(),
    207,
    { results: [], errors: [{ status: 'error', message: TEXT, category: 'A', context: {} }] },
  ],
  [
    'Salesforce',
    createSalesforceProvider(),
    200,
    [{ success: false, errors: [{ message: TEXT, statusCode: 'A', fields: [] }] }],
  ],
])('%s masks the error of a record in a batch', async (_name, provider, status, body) => {
  const session = createSession(status, body);
  const batch = { type: 'CREATE' as const, objectName: 'contacts', allOrNone: false };
  const records = [{ record: { lastname: 'A' } }];
  const [outcome] =
    (await provider.capabilities.writeBatch?.(session, { ...batch, records })) ?? [];
  expect(outcome?.errors.join()).toContain('The token *** is wrong');
});

test('a GraphQL vendor masks errors in a response with status 200', async () => {
  const { capabilities } = createDeclarativeProvider(getDeclaration('linear'));
  const session = createSession(200, { errors: [{ message: TEXT }] });
  const reading = capabilities.readPage?.(session, {
    objectName: 'issues',
    fields: ['id'],
    pageSize: 1,
  });
  await expect(reading).rejects.toThrow('The token *** is wrong');
});

test('masks a secret before a message is cut', async () => {
  const message = `${'x '.repeat(240)}${SECRET.repeat(3)}`;
  const { capabilities } = createDeclarativeProvider(getDeclaration('linear'));
  const session = createSession(400, { errors: [{ message }] });
  const reading = capabilities.readPage?.(session, {
    objectName: 'issues',
    fields: ['id'],
    pageSize: 1,
  });
  await expect(reading).rejects.toThrow(/^((?!secret).)*$/);
});

test('omits a credential from the URL of the next page, which is stored', async () => {
  const { capabilities } = createDeclarativeProvider(dynamicsCrm);
  const nextUrl = `https://vendor.example/contacts?$skiptoken=2&key=${SECRET}`;
  const session = createSession(200, { value: [{ contactid: '1' }], '@odata.nextLink': nextUrl });
  const page = await capabilities.readPage?.(session, {
    objectName: 'contacts',
    fields: ['id'],
    pageSize: 1,
  });
  expect(page?.nextCursor).toContain('skiptoken');
  expect(page?.nextCursor).not.toContain(SECRET);
});
