/** A write runs a constant number of statements, and concurrent writes share statements. */
import { expect, test } from 'vitest';
import {
  END_UNREPORTED_WRITES,
  type WriteEndRow,
} from '../../../src/database/statements/hot/end-writes.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { getSharedApp } from '../../support/app.ts';
import { CALLER_STATEMENTS, recordStatements } from '../../support/database/statements.ts';
import {
  createContact,
  createWriter,
  startWriteJobs,
  type Writer,
} from '../../support/fixtures/writes.ts';

const app = await getSharedApp();
const { services } = app.app;

/** Returns the first word of a statement, and the first table that it names. */
function nameStatement(text: string): string {
  const table = /(?:from|into|update|FROM|INTO|UPDATE) (?:"public"\.)?"(\w+)"/.exec(text)?.[1];
  return `${text.trim().split(/\s/)[0]?.toLowerCase()} ${table}`;
}

async function listStatements(work: () => Promise<unknown>): Promise<string[]> {
  const { statements } = await recordStatements(work);
  return (
    statements
      .map(({ text }) => text)
      .filter((text) => !CALLER_STATEMENTS.test(text))
      .map(nameStatement)
      // Requests of many writes are stored together, in the background.
      .filter((name) => name !== 'insert RecordedRequest')
  );
}

/** Creates a writer with a cached write target and a connection that is known to work. */
async function createCachedWriter(): Promise<Writer> {
  const writer = await createWriter(app);
  await writer.write({ record: createContact() });
  await writer.write({ record: createContact() });
  return writer;
}

const READ_STATEMENTS = ['select Project', 'select Integration'];
const ACCEPT_STATEMENT = 'with Operation';
/** Also used for writes with an idempotency key or a proposal. */
const COLLECT_STATEMENT = 'with Proposal';

test('runs four statements for a synchronous write: the project, the target, its start and its end', async () => {
  const writer = await createCachedWriter();
  const names = await listStatements(() => writer.write({ record: createContact() }));
  expect(names).toEqual([...READ_STATEMENTS, ACCEPT_STATEMENT, 'with WriteTask']);
});

test('runs as many statements for a batch as for a record', async () => {
  const writer = await createCachedWriter();
  const batch = Array.from({ length: 50 }, () => ({ record: createContact() }));
  const names = await listStatements(() => writer.write({ batch }));
  expect(names).toEqual([...READ_STATEMENTS, ACCEPT_STATEMENT, 'with WriteTask']);
});

test('shares statements among concurrent writes, each with its own outcome', async () => {
  const writer = await createCachedWriter();
  const records = Array.from({ length: 40 }, () => createContact());
  const responses: Awaited<ReturnType<Writer['write']>>[] = [];
  const names = await listStatements(async () => {
    responses.push(...(await Promise.all(records.map((record) => writer.write({ record })))));
  });
  expect(responses.map(({ result }) => result.data.email)).toEqual(
    records.map(({ email }) => email),
  );
  expect(responses.every(({ operation }) => operation.status === 'SUCCEEDED')).toBe(true);
  const changeNames = names.filter((text) => text.startsWith('with'));
  // Without sharing, each write would run two statements.
  expect(changeNames.length).toBeLessThan(2 * records.length);
});

test('runs a write once if two concurrent calls have its key, and returns its outcome to each', async () => {
  const writer = await createCachedWriter();
  const repeatedInput = { record: createContact(), idempotencyKey: 'the-same' };
  const otherInputs = Array.from({ length: 5 }, () => ({ record: createContact() }));
  const responses = await Promise.all(
    [repeatedInput, ...otherInputs, repeatedInput].map((input) => writer.write(input)),
  );
  const ids = responses.map(({ operationId }) => operationId);
  expect(ids.at(-1)).toBe(ids[0]);
  expect(new Set(ids).size).toBe(otherInputs.length + 1);
  expect(responses.every(({ result }) => result.success)).toBe(true);
  const emails = app.app.sandbox.listRecords('contacts').map(({ email }) => email);
  expect(emails.filter((email) => email === repeatedInput.record.email)).toHaveLength(1);
});

test('changes an asynchronous write with two statements: its acceptance and its end', async () => {
  const writer = await createCachedWriter();
  await using _jobs = await startWriteJobs(app);
  const names = await listStatements(async () => {
    const { operationId } = await writer.write({ mode: 'ASYNCHRONOUS', record: createContact() });
    await writer.waitForOperation(operationId);
  });
  const changeNames = names.filter((text) => text.startsWith('with'));
  // Claims, like all statements of leases, are not recorded.
  expect(changeNames).toEqual([ACCEPT_STATEMENT, 'with WriteTask']);
  const where = { projectId: writer.projectId, status: 'SUCCESS' } as const;
  expect(await services.database.prisma.operation.count({ where })).toBe(3);
});

test('runs three statements for a collected record: the project, the target and the batch', async () => {
  const writer = await createCachedWriter();
  const collectedWrite = { mode: 'ASYNCHRONOUS', autoBatchPolicy: { maxDelayMinutes: 60 } };
  await writer.write({ record: createContact(), ...collectedWrite });
  const names = await listStatements(() =>
    writer.write({ record: createContact(), ...collectedWrite }),
  );
  // The pending deliveries of a project are counted once a second.
  expect(names.filter((text) => text !== 'select Destination')).toEqual([
    ...READ_STATEMENTS,
    COLLECT_STATEMENT,
  ]);
});

test('returns the same row from the statement that ends a write as from a read', async () => {
  const writer = await createCachedWriter();
  const { result, statements } = await recordStatements(() =>
    writer.write({ record: createContact() }),
  );
  const endStatement = statements.findLast(({ text }) => nameStatement(text) === 'with WriteTask');
  const { database } = services;
  const operation = await database.prisma.operation.findFirstOrThrow({
    where: { id: result.operationId },
  });
  await database.prisma.operation.updateMany({
    where: { id: operation.id },
    data: { status: 'IN_PROGRESS' },
  });
  const [row] = JSON.parse(String(endStatement?.values[0])) as [WriteEndRow];
  await database.prisma.writeTask.updateMany({
    where: { id: operation.id },
    data: { leaseToken: row.leaseToken },
  });
  const repeatedRow = { ...row, lastLine: { ...row.lastLine, id: newId('log') } };
  expect(await database.runShared(END_UNREPORTED_WRITES, repeatedRow)).toEqual(operation);
});

test('stores a write with the lease of this process if it has a free slot', async () => {
  const writer = await createCachedWriter();
  app.app.sandbox.faults.set({ pathPrefix: '/objects/contacts', status: 429, times: 1 });
  await using _jobs = await startWriteJobs(app);
  const { statements } = await recordStatements(async () => {
    const { operationId } = await writer.write({ mode: 'ASYNCHRONOUS', record: createContact() });
    await writer.waitForOperation(operationId);
  });
  const { values } = statements.find(({ text }) => nameStatement(text) === ACCEPT_STATEMENT) ?? {};
  const [row] = JSON.parse(String(values?.[0])) as [{ leaseToken: string | null }];
  expect(row.leaseToken).toContain(services.database.processes.id);
});

test('leaves a write to another process if this one runs no worker', async () => {
  const writer = await createCachedWriter();
  const { operationId } = await writer.write({ mode: 'ASYNCHRONOUS', record: createContact() });
  const findTask = () =>
    services.database.prisma.writeTask.findFirstOrThrow({ where: { id: operationId } });
  expect(await findTask()).toMatchObject({ leaseToken: null, attempts: 0 });
  await using _jobs = await startWriteJobs(app);
  expect(await writer.waitForOperation(operationId)).toMatchObject({ status: 'SUCCESS' });
});
