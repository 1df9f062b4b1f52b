import { expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';
import { contact, createWriter } from '../../support/scenes/writes.ts';

// A mutation has this time; answers come 5 s before it is over.
const app = await sharedApp({ env: { LIMIT_MUTATION_MS: '5200' } });
const { sandbox } = app.app;

test('an outcome that takes too long is reported as not known yet, and the operation goes on', async () => {
  const writer = await createWriter(app);
  const record = contact();
  sandbox.faults.set({ delayMs: 1_500, pathPrefix: '/objects/contacts' });
  const answer = await writer.write({ record });
  expect(answer).toMatchObject({
    operation: { status: 'IN_PROGRESS', result: null },
    result: {
      success: false,
      recordId: null,
      errors: [
        { message: expect.stringContaining(`not known yet: the operation ${answer.operationId}`) },
      ],
    },
    successCount: 0,
    failureCount: 0,
  });
  expect(await writer.ended(answer.operationId)).toMatchObject({ status: 'SUCCESS' });
  expect(sandbox.records('contacts')).toMatchObject([record]);
});

test('of a batch, each record is reported so', async () => {
  const writer = await createWriter(app);
  const batch = [contact(), contact()].map((record) => ({ record }));
  sandbox.faults.set({ delayMs: 1_000, pathPrefix: '/objects/contacts' });
  const { results, operationId } = await writer.write({ batch });
  expect(results).toMatchObject([
    { success: false, errors: [{ message: expect.stringContaining('not known yet') }] },
    { success: false, errors: [{ message: expect.stringContaining('not known yet') }] },
  ]);
  await writer.ended(operationId);
});
