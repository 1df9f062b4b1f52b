import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { installReads, startReadJobs, TRIGGER_READ } from '../../support/fixtures/reads.ts';

const app = await getSharedApp();
const { sandbox } = app.app;
// The sandbox returns at most 200 records in a page.
sandbox.seed('contacts', 450);

test.each([
  [500, [450]],
  [300, [300, 150]],
  [60, [60, 60, 60, 60, 60, 60, 60, 30]],
])("splits records into messages of %i, independently of the provider's page size", async (pageSize, sizes) => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant, { object: { delivery: { pageSize } } });
  await tenant.query(TRIGGER_READ, { input: { ...reads.triggerInput, objectName: 'contacts' } });
  await using _workers = await startReadJobs(app);
  expect(await reads.waitForOperations(1)).toMatchObject([
    { status: 'SUCCESS', result: '[contacts] Read completed (450 records)' },
  ]);
  const messages = await reads.listMessages();
  expect(messages.map(({ resultInfo }) => resultInfo.numRecords)).toEqual(sizes);
  const ids = messages.flatMap(({ result }) => result.map(({ raw }) => raw.id));
  expect(ids).toEqual(sandbox.listRecords('contacts').map(({ id }) => id));
});
