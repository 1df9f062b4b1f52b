/** Batches with several updates of one record, which vendors refuse in one request. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { writes } from '../../../src/domain/data/operation/write/write-run.ts';
import type { Provider } from '../../../src/providers/contract.ts';
import { createRefusedOutcome } from '../../../src/providers/moving-records.ts';
import { ProviderError } from '../../../src/providers/provider-error.ts';
import { createSandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import { getSharedApp } from '../../support/app.ts';
import { installCrm, startCrmApp } from '../../support/fixtures/crm.ts';
import {
  createContact,
  createWriter,
  WRITE_RECORDS,
  type Writer,
} from '../../support/fixtures/writes.ts';
import { toGraphqlInput } from '../../support/inputs/graphql-input.ts';
import { startSandbox } from '../../support/providers/sandbox.ts';
import { runDueRows } from '../../support/work/due-work.ts';

const MINUTE_MS = 60_000;

const sandbox = await startSandbox();
afterAll(() => sandbox[Symbol.asyncDispose]());

interface SentRequest {
  /** The first names in the records. */
  names: unknown[];
  key: string | undefined;
}

const sentRequests: SentRequest[] = [];
/** The numbers of the requests whose response is lost. */
const lostResponses = new Set<number>();

const sandboxProvider = createSandboxProvider(() => sandbox.url);
const { writeRecord, writeBatch } = sandboxProvider.capabilities;
/** A sandbox that refuses a request with a repeated id, like HubSpot. */
const provider: Provider = {
  ...sandboxProvider,
  capabilities: {
    ...sandboxProvider.capabilities,
    async writeRecord(session, write) {
      const outcome = await writeRecord!(session, write);
      recordRequest([write.record], write.idempotencyKey);
      return outcome;
    },
    async writeBatch(session, write) {
      const ids = write.records.map(({ record }) => record.id);
      const isRefused = write.type === 'UPDATE' && new Set(ids).size < ids.length;
      const outcomes = isRefused
        ? ids.map((id) => createRefusedOutcome(String(id), ['Duplicate IDs']))
        : await writeBatch!(session, write);
      recordRequest(
        write.records.map(({ record }) => record),
        write.idempotencyKey,
      );
      return outcomes;
    },
  },
};

function recordRequest(records: Record<string, unknown>[], key: string | undefined): void {
  sentRequests.push({ names: records.map(({ firstname }) => firstname), key });
  if (lostResponses.has(sentRequests.length)) throw new ProviderError('TIMEOUT', 'No response');
}

let aheadMs = 0;
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [provider],
  now: () => new Date(Date.now() + aheadMs),
});
const { services } = app.app;
const crm = await startCrmApp();

beforeEach(() => {
  sentRequests.length = 0;
  lostResponses.clear();
});

/** Creates contacts. Returns their ids. */
async function createContacts(writer: Writer, count: number): Promise<string[]> {
  const batch = Array.from({ length: count }, () => ({ record: createContact() }));
  const { results } = await writer.write({ batch });
  sentRequests.length = 0;
  return results.map(({ recordId }: { recordId: string }) => recordId);
}

const findName = (id: string | undefined) =>
  sandbox.listRecords('contacts').find((row) => row.id === id)?.firstname;

const listNames = () => sentRequests.map(({ names }) => names);

test('sends each further update of a record in a later request, in order', async () => {
  const writer = await createWriter(app);
  const [a, b] = await createContacts(writer, 2);
  const updates = [
    { id: a, firstname: 'A1' },
    { id: b, firstname: 'B1' },
    { id: a, firstname: 'A2' },
    { id: a, firstname: 'A3' },
    { id: b, firstname: 'B2' },
  ];
  const batch = updates.map((record) => ({ record }));
  const { results } = await writer.write({ type: 'UPDATE', batch });
  expect(results).toMatchObject(updates.map(({ id }) => ({ success: true, recordId: id })));
  expect(listNames()).toEqual([['A1', 'B1'], ['A2', 'B2'], ['A3']]);
  expect([findName(a), findName(b)]).toEqual(['A3', 'B2']);
});

test('updates a record for several calls of an automatic batch, in order', async () => {
  const writer = await createWriter(app);
  const [a, b] = await createContacts(writer, 2);
  const ids: string[] = [];
  for (const [id, firstname] of [
    [a, 'A1'],
    [a, 'A2'],
    [b, 'B1'],
  ]) {
    const { operationId } = await writer.write({
      mode: 'ASYNCHRONOUS',
      autoBatchPolicy: { maxDelayMinutes: 1 },
      type: 'UPDATE',
      record: { id, firstname },
    });
    ids.push(operationId);
  }
  aheadMs += 2 * MINUTE_MS;
  await runDueRows(services, writes, { projectId: writer.projectId });
  for (const id of ids)
    expect(await writer.waitForOperation(id)).toMatchObject({ status: 'SUCCESS' });
  expect(listNames()).toEqual([['A1', 'B1'], ['A2']]);
  expect(findName(a)).toBe('A2');
});

test('repeats the same requests with the same keys', async () => {
  const writer = await createWriter(app);
  const [a, b] = await createContacts(writer, 2);
  const batch = ['1', '2'].flatMap((number) => [
    { record: { id: a, firstname: `A${number}` } },
    { record: { id: b, firstname: `B${number}` } },
  ]);
  const { operationId } = await writer.write({ mode: 'ASYNCHRONOUS', type: 'UPDATE', batch });
  lostResponses.add(1).add(3);
  for (const _attempt of [1, 2, 3]) {
    await runDueRows(services, writes, { projectId: writer.projectId });
    aheadMs += MINUTE_MS;
  }
  expect(await writer.waitForOperation(operationId)).toMatchObject({
    status: 'SUCCESS',
    metadata: { retry: { attempts: 3 } },
  });
  const firstRequest = { names: ['A1', 'B1'], key: `${operationId}.0` };
  const lastRequest = { names: ['A2', 'B2'], key: `${operationId}.2` };
  expect(sentRequests).toEqual([firstRequest, firstRequest, lastRequest, lastRequest]);
  expect([findName(a), findName(b)]).toEqual(['A2', 'B2']);
});

test('sends an all-or-none batch in one request, so that the provider decides about repeated ids', async () => {
  const writer = await createWriter(app);
  const [a] = await createContacts(writer, 1);
  const batch = ['A1', 'A2'].map((firstname) => ({ record: { id: a, firstname } }));
  const batchPolicy = { allOrNone: true };
  const { results } = await writer.write({ type: 'UPDATE', batch, batchPolicy });
  const refused = { success: false, errors: [{ message: 'Duplicate IDs' }] };
  expect(results).toMatchObject([refused, refused]);
  expect(listNames()).toEqual([['A1', 'A2']]);
});

test('updates a record of HubSpot twice in a batch', async () => {
  const content = { write: { objects: [{ objectName: 'contacts' }] } };
  const { tenant } = await installCrm(crm.app, 'hubspot', { content });
  const { id } = crm.hubspot.store.create('contacts', { firstname: 'Ada' });
  const { id: otherId } = crm.hubspot.store.create('contacts', { firstname: 'Bob' });
  const input = toGraphqlInput({
    projectIdOrName: tenant.projectId,
    integrationIdOrName: 'crm',
    groupRef: 'acme',
    objectName: 'contacts',
    type: 'UPDATE',
    batch: [
      { record: { id, firstname: 'Eve' } },
      { record: { id: otherId, firstname: 'Rob' } },
      { record: { id, firstname: 'Zoe' } },
    ],
  });
  const { writeRecords } = await tenant.query(WRITE_RECORDS, { input });
  expect(writeRecords).toMatchObject({ successCount: 3, failureCount: 0 });
  expect(crm.hubspot.store.find('contacts', id)?.properties).toMatchObject({ firstname: 'Zoe' });
});
