import { expect, test } from 'vitest';
import { createSandboxDeskProvider } from '../../src/providers/sandbox/desk-provider.ts';
import { createPlainSession } from '../support/providers/provider-session.ts';
import { startSandbox } from '../support/providers/sandbox.ts';
import { type ContractSubject, testProviderContract } from './contract.ts';

const API_KEY = 'sandbox-key-of-the-tests';

const createSession = (url: string) => createPlainSession(`${url}/desk`, { 'x-api-key': API_KEY });

async function createSubject(): Promise<ContractSubject> {
  let now = new Date(0);
  const sandbox = await startSandbox(() => now);
  const session = createSession(sandbox.url);
  let count = 0;
  return {
    provider: createSandboxDeskProvider(() => sandbox.url),
    session,
    secret: API_KEY,
    objectName: 'people',
    textField: 'family',
    // Only `mail` can be searched.
    canSearch: false,
    createValidRecord(family) {
      count += 1;
      return { family, mail: `person-${count}@example.test` };
    },
    invalidRecord: { family: 'Hopper', mail: 'no address' },
    missingId: '404404',
    pageSizeMin: 10,
    hasChangeTimes: true,
    isDescribedWithoutRequest: true,
    countRecords: () => sandbox.listRecords('people').length,
    async storeRecords(records) {
      const ids: string[] = [];
      for (const { record, changedAt } of records) {
        now = changedAt;
        const { family, mail } = record;
        const body = { person: { name: { family }, contact: { mail } } };
        const response = await session.send({ method: 'POST', path: '/people', body });
        ids.push((response.body as { person: { key: string } }).person.key);
      }
      return ids;
    },
    failRequests(fault) {
      const times = 1_000;
      sandbox.faults.set(
        fault === 'DROPPED_CONNECTION' ? { drop: 'after', times } : { ...fault, times },
      );
    },
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

testProviderContract('sandboxDesk', createSubject);

test('reads nested values as fields, over pages, and has no people in the CRM', async () => {
  await using sandbox = await startSandbox();
  sandbox.seed('people', 25);
  const session = createSession(sandbox.url);
  const { readPage } = createSandboxDeskProvider(() => sandbox.url).capabilities;
  const read = { objectName: 'people', fields: ['given', 'mail'], pageSize: 20 };
  const firstPage = await readPage?.(session, read);
  expect(firstPage?.records).toHaveLength(20);
  expect(firstPage?.records[0]).toMatchObject({
    id: '1',
    fields: { given: 'Alan', mail: 'person-1@desk.example.test' },
    raw: { key: '1', name: { given: 'Alan' } },
  });
  const lastPage = await readPage?.(session, {
    ...read,
    cursor: firstPage?.nextCursor ?? undefined,
  });
  expect(lastPage?.records).toHaveLength(5);
  expect(lastPage?.nextCursor).toBeNull();
  const response = await fetch(`${sandbox.url}/objects/people`);
  expect(response.status).toBe(404);
});

test('refuses a mail address that another person has, with the name of the field', async () => {
  await using sandbox = await startSandbox();
  sandbox.seed('people', 1);
  const { writeRecord } = createSandboxDeskProvider(() => sandbox.url).capabilities;
  const outcome = await writeRecord?.(createSession(sandbox.url), {
    type: 'CREATE',
    objectName: 'people',
    record: { mail: 'person-1@desk.example.test' },
  });
  expect(JSON.stringify(outcome)).toContain('Another record has mail');
});
