import { expect, test } from 'vitest';
import { installCrm, startCrmApp } from '../../support/fixtures/crm.ts';
import { POLLING, startReadJobs, TRIGGER_READ } from '../../support/fixtures/reads.ts';
import { WRITE_RECORDS } from '../../support/fixtures/writes.ts';

const { app, hubspot, salesforce } = await startCrmApp();

const GET_OPERATION = `query Operation($id: ID!) { node(id: $id) { ... on Operation {
  status metadata { progress { recordsProcessed recordsEstimatedTotal } }
} } }`;

test('returns the total number of records of a HubSpot read', async () => {
  const read = { objects: [{ objectName: 'contacts', destination: 'records' }] };
  const rest = await installCrm(app, 'hubspot', { content: { read } });
  const countBefore = hubspot.store.listRecords('contacts').length;
  for (let contactNumber = 0; contactNumber < 120; contactNumber += 1)
    hubspot.store.create('contacts', { firstname: `Ada ${contactNumber}` });
  const input = {
    projectIdOrName: rest.tenant.projectId,
    integrationIdOrName: 'crm',
    groupRef: 'acme',
    objectName: 'contacts',
  };
  const { triggerRead } = await rest.tenant.query(TRIGGER_READ, { input });
  const { id } = triggerRead.operation;
  await using _workers = await startReadJobs(app);
  const getOperation = async () => (await rest.tenant.query(GET_OPERATION, { id })).node;
  await expect.poll(async () => (await getOperation()).status, POLLING).toBe('SUCCEEDED');
  const total = countBefore + 120;
  const progress = { recordsProcessed: total, recordsEstimatedTotal: total };
  expect((await getOperation()).metadata).toEqual({ progress });
  const operation = await rest.get(`${rest.base}/operations/${id}`);
  expect(operation.metadata.progress).toMatchObject(progress);
});

test.each([
  'salesforce',
  'salesforceJWT',
] as const)('reads a record once to return it from a synchronous write to %s', async (provider) => {
  const write = { objects: [{ objectName: 'Account' }] };
  const rest = await installCrm(app, provider, { content: { write } });
  const countReads = () => salesforce.requests.filter(({ method }) => method === 'GET').length;
  const createInput = (overrides: object) => ({
    input: {
      projectIdOrName: rest.tenant.projectId,
      integrationIdOrName: 'crm',
      groupRef: 'acme',
      objectName: 'Account',
      ...overrides,
    },
  });
  const readsBefore = countReads();
  const creation = await rest.tenant.query(
    WRITE_RECORDS,
    createInput({ type: 'CREATE', records: { record: { Name: 'Acme' } } }),
  );
  const { recordId, data } = creation.writeRecords.result;
  expect(data).toMatchObject({ Id: recordId, Name: 'Acme' });
  expect(countReads()).toBe(readsBefore + 1);
  const path = `${rest.base}/integrations/crm/objects/Account`;
  const record = { id: recordId, Name: 'Acme Corp' };
  const body = { groupRef: 'acme', type: 'update', record };
  expect((await rest.post(path, body, 200)).result).toMatchObject({ data: { Name: 'Acme Corp' } });
  expect(countReads()).toBe(readsBefore + 2);
  const batch = ['One', 'Two'].map((Name) => ({ record: { Name } }));
  await rest.tenant.query(WRITE_RECORDS, createInput({ type: 'CREATE', records: { batch } }));
  expect(countReads()).toBe(readsBefore + 2);
});
