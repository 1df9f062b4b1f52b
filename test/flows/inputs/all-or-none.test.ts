import { expect, test } from 'vitest';
import { installCrm, startCrmApp } from '../../support/fixtures/crm.ts';
import { WRITE_RECORDS } from '../../support/fixtures/writes.ts';
import { toGraphqlInput } from '../../support/inputs/graphql-input.ts';
import { expectEqualRefusal } from '../../support/rest/equal-refusals.ts';

const { app, hubspot } = await startCrmApp();

const content = { write: { objects: [{ objectName: 'contacts' }] } };

function createBatchInput(type: 'CREATE' | 'UPDATE', records: object[]) {
  return {
    integrationIdOrName: 'crm',
    groupRef: 'acme',
    objectName: 'contacts',
    type,
    batch: records.map((record) => ({ record })),
    batchPolicy: { allOrNone: true },
  };
}

test('refuses an all-or-none batch without a request if the provider would write a part of it', async () => {
  const rest = await installCrm(app, 'hubspot', { content });
  const { id } = hubspot.store.create('contacts', { firstname: 'Ada' });
  const requestCount = hubspot.requests.length;
  const update = createBatchInput('UPDATE', [{ id, firstname: 'Eve' }, { id: '999999' }]);
  expect(await expectEqualRefusal(rest, 'writeRecords', update)).toMatchObject({
    status: 422,
    issues: [
      [
        'batchPolicy.allOrNone',
        'is not possible: HubSpot writes what it can of a batch of the type update.',
      ],
    ],
  });
  expect(hubspot.requests.length).toBe(requestCount);

  const create = createBatchInput('CREATE', [{ firstname: 'Bob' }, { email: 'no address' }]);
  const input = toGraphqlInput({ projectIdOrName: rest.tenant.projectId, ...create });
  const { writeRecords } = await rest.tenant.query(WRITE_RECORDS, { input });
  expect(writeRecords).toMatchObject({ successCount: 0, failureCount: 2 });
});

test('lists in the catalog the types of writes that support all-or-none batches', async () => {
  const rest = await installCrm(app, 'hubspot', { content });
  const { providers } = await rest.tenant.query(
    'query Providers { providers { nodes { name allOrNone } } }',
  );
  expect(providers.nodes).toEqual([
    { name: 'hubspot', allOrNone: ['CREATE'] },
    { name: 'salesforce', allOrNone: ['CREATE', 'UPDATE'] },
    { name: 'salesforceJWT', allOrNone: ['CREATE', 'UPDATE'] },
  ]);
  expect(await rest.get('/providers/hubspot')).toMatchObject({ allOrNone: ['create'] });
});
