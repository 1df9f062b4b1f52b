/** The requests of a write at a provider that accepts two records in a request and returns no data of written records. */
import { afterAll, expect, test } from 'vitest';
import type { Provider } from '../../../src/providers/contract.ts';
import { createSandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import { getSharedApp } from '../../support/app.ts';
import { createContact, createWriter } from '../../support/fixtures/writes.ts';
import { startSandbox } from '../../support/providers/sandbox.ts';

const sandbox = await startSandbox();
afterAll(() => sandbox[Symbol.asyncDispose]());

const sandboxProvider = createSandboxProvider(() => sandbox.url);
const { capabilities, limits } = sandboxProvider;
const { writeRecord, writeBatch } = capabilities;
const batchSizes: number[] = [];
const provider: Provider = {
  ...sandboxProvider,
  limits: { ...limits, batchSize: 2 },
  capabilities: {
    ...capabilities,
    ...(writeRecord && {
      writeRecord: async (...call) => ({ ...(await writeRecord(...call)), data: null }),
    }),
    ...(writeBatch && {
      writeBatch(session, write) {
        batchSizes.push(write.records.length);
        return writeBatch(session, write);
      },
    }),
  },
};
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [provider],
});

test("splits a batch into requests of the provider's size, with an outcome for each record in order", async () => {
  const writer = await createWriter(app);
  const records = Array.from({ length: 5 }, () => createContact());
  const { results } = await writer.write({ batch: records.map((record) => ({ record })) });
  expect(batchSizes).toEqual([2, 2]);
  const emailsById = new Map(sandbox.listRecords('contacts').map(({ id, email }) => [id, email]));
  expect(results.map(({ recordId }: { recordId: string }) => emailsById.get(recordId))).toEqual(
    records.map(({ email }) => email),
  );
});

test('reads the data of a record that was written synchronously', async () => {
  const writer = await createWriter(app);
  const record = createContact();
  expect((await writer.write({ record })).result).toMatchObject({ success: true, data: record });
});
