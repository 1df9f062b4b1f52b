import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { createContact, createWriter } from '../../support/fixtures/writes.ts';

// The response is sent 5 s before the time limit of a mutation, which is 200 ms after the request.
const app = await getSharedApp({ env: { LIMIT_MUTATION_MS: '5200' } });
const { sandbox } = app.app;

test('reports a late outcome as not known yet, and continues the operation', async () => {
  const writer = await createWriter(app);
  const record = createContact();
  sandbox.faults.set({ delayMs: 1_500, pathPrefix: '/objects/contacts' });
  const response = await writer.write({ record });
  expect(response).toMatchObject({
    operation: { status: 'IN_PROGRESS', result: null },
    result: {
      success: false,
      recordId: null,
      errors: [
        {
          message: expect.stringContaining(`not known yet: the operation ${response.operationId}`),
        },
      ],
    },
    successCount: 0,
    failureCount: 0,
  });
  expect(await writer.waitForOperation(response.operationId)).toMatchObject({ status: 'SUCCESS' });
  expect(sandbox.listRecords('contacts')).toContainEqual(expect.objectContaining(record));
});

test('reports each record of a late batch as not known yet', async () => {
  const writer = await createWriter(app);
  const batch = [createContact(), createContact()].map((record) => ({ record }));
  sandbox.faults.set({ delayMs: 1_000, pathPrefix: '/objects/contacts' });
  const { results, operationId } = await writer.write({ batch });
  expect(results).toMatchObject([
    { success: false, errors: [{ message: expect.stringContaining('not known yet') }] },
    { success: false, errors: [{ message: expect.stringContaining('not known yet') }] },
  ]);
  await writer.waitForOperation(operationId);
});
