/**
 * Outcomes of a batch whose requests do not all reach the provider. The provider accepts two records in a request, and
 * has no idempotency keys.
 */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { writes } from '../../../src/domain/data/operation/write/write-run.ts';
import type { Provider } from '../../../src/providers/contract.ts';
import type { RecordOutcome } from '../../../src/providers/moving-records.ts';
import { ProviderError, type ProviderErrorKind } from '../../../src/providers/provider-error.ts';
import { createSandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import { getSharedApp } from '../../support/app.ts';
import { createContact, createWriter, type Writer } from '../../support/fixtures/writes.ts';
import { startSandbox } from '../../support/providers/sandbox.ts';
import { runDueRows } from '../../support/work/due-work.ts';

const MINUTE_MS = 60_000;

const sandbox = await startSandbox();
afterAll(() => sandbox[Symbol.asyncDispose]());

type Response = 'WRITTEN' | ProviderErrorKind | RecordOutcome[];

/** The results of the next batches. Later batches are written. */
const responses: Response[] = [];
let batchCount = 0;

const sandboxProvider = createSandboxProvider(() => sandbox.url);
const { features, limits, capabilities } = sandboxProvider;
const provider: Provider = {
  ...sandboxProvider,
  features: { ...features, idempotencyKeyLifetimeMs: null },
  limits: { ...limits, batchSize: 2 },
  capabilities: {
    ...capabilities,
    async writeBatch(session, write) {
      batchCount += 1;
      const response = responses.shift() ?? 'WRITTEN';
      if (Array.isArray(response)) return response;
      if (response === 'WRITTEN') return capabilities.writeBatch!(session, write);
      throw new ProviderError(response, 'Out of order');
    },
  },
};

let aheadMs = 0;
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [provider],
  now: () => new Date(Date.now() + aheadMs),
});
const { services } = app.app;

beforeEach(() => {
  responses.length = 0;
  batchCount = 0;
});

const createBatch = () => Array.from({ length: 6 }, () => ({ record: createContact() }));

const run = ({ projectId }: Writer) => runDueRows(services, writes, { projectId });

/** Returns the reasons in the outcomes of an operation's records. */
async function listErrors({ projectId }: Writer, operationId: string): Promise<unknown[]> {
  const entries = await services.database.prisma.writeEntry.findMany({
    where: { projectId, operationId },
    orderBy: { position: 'asc' },
  });
  return entries.map(({ outcome }) => (outcome as { errors: unknown[] }).errors[0]);
}

const written = { success: true };
const failWith = (message: string) => ({
  success: false,
  errors: [{ message: expect.stringContaining(message) }],
});
const unknown = failWith('The outcome is unknown');
const unsent = failWith('Not attempted, because an earlier request failed: Out of order');

test('reports records as not attempted if the outcome of an earlier request is unknown', async () => {
  const writer = await createWriter(app);
  responses.push('WRITTEN', 'TIMEOUT');
  const { results, operation } = await writer.write({ batch: createBatch() });
  expect(results).toMatchObject([written, written, unknown, unknown, unsent, unsent]);
  expect(operation.status).toBe('SUCCEEDED');
  expect(batchCount).toBe(2);
});

test('reports records as not attempted if the provider refuses an earlier request', async () => {
  const writer = await createWriter(app);
  responses.push('WRITTEN', 'FORBIDDEN');
  const { results } = await writer.write({ batch: createBatch() });
  const refused = { success: false, errors: [{ message: 'Out of order' }] };
  expect(results).toMatchObject([written, written, refused, refused, unsent, unsent]);
});

test('retries a request that was not executed and the requests after it', async () => {
  const writer = await createWriter(app);
  responses.push('WRITTEN', 'RATE_LIMITED');
  const batch = createBatch();
  const { operationId } = await writer.write({ mode: 'ASYNCHRONOUS', batch });
  await run(writer);
  aheadMs += MINUTE_MS;
  await run(writer);
  expect(await writer.waitForOperation(operationId)).toMatchObject({
    status: 'SUCCESS',
    result: '[contacts] Batch write completed (6 succeeded, 0 failed)',
  });
  expect(batchCount).toBe(4);
});

test('reports all records without an outcome as unknown if an earlier attempt may have sent them', async () => {
  const writer = await createWriter(app);
  const { results } = await writer.write({ batch: createBatch() });
  const batch = results.map(({ recordId }: { recordId: string }) => ({
    record: { id: recordId, firstname: 'Ann' },
  }));
  responses.push('TIMEOUT', 'FORBIDDEN');
  const { operationId } = await writer.write({ mode: 'ASYNCHRONOUS', type: 'UPDATE', batch });
  await run(writer);
  aheadMs += MINUTE_MS;
  await run(writer);
  expect(await writer.waitForOperation(operationId)).toMatchObject({ status: 'FAILURE' });
  expect(await listErrors(writer, operationId)).toEqual(
    batch.map(() => expect.stringContaining('The outcome is unknown')),
  );
});

test('reports which records of a request may have been written', async () => {
  const writer = await createWriter(app);
  const outcome = { success: false, recordId: null, data: null };
  responses.push([
    { ...outcome, errors: ['No response'], failure: 'UNKNOWN' },
    { ...outcome, errors: ['Not attempted'], failure: 'NOT_EXECUTED' },
  ]);
  const { results } = await writer.write({ batch: createBatch().slice(0, 2) });
  expect(results).toMatchObject([
    failWith('The outcome is unknown: the provider may have written the record. No response'),
    { success: false, errors: [{ message: 'Not attempted' }] },
  ]);
});

test('reports a record as unknown if an earlier attempt may have written it', async () => {
  const writer = await createWriter(app);
  const { results } = await writer.write({ batch: createBatch().slice(0, 2) });
  const [firstId, secondId] = results.map(({ recordId }: { recordId: string }) => recordId);
  const outcome = { success: false, data: null };
  responses.push('TIMEOUT', [
    { success: true, recordId: firstId, data: null, errors: [] },
    { ...outcome, recordId: secondId, errors: ['Not attempted'], failure: 'NOT_EXECUTED' },
  ]);
  const batch = [firstId, secondId].map((id) => ({ record: { id, firstname: 'Ann' } }));
  const { operationId } = await writer.write({ mode: 'ASYNCHRONOUS', type: 'UPDATE', batch });
  await run(writer);
  aheadMs += MINUTE_MS;
  await run(writer);
  await writer.waitForOperation(operationId);
  expect(await listErrors(writer, operationId)).toEqual([
    undefined,
    expect.stringMatching(/The outcome is unknown.* The last attempt failed: Not attempted$/),
  ]);
});
