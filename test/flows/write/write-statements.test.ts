/** Counts the statements of a write, and shows that concurrent writes share them. */
import { expect, test } from 'vitest';
import { END_UNREPORTED_WRITES, type WriteEndRow } from '../../../src/database/hot/end-writes.ts';
import { newId } from '../../../src/ids.ts';
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

/** The first word of a statement and the first table that it names. */
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

/** The first write stores that the connection works, so later ones take fewer statements. */
async function createCachedWriter(): Promise<Writer> {
  const writer = await createWriter(app);
  await writer.write({ record: createContact() });
  await writer.write({ record: createContact() });
  return writer;
}

const READ = ['select Project', 'select Integration'];
const ACCEPT = 'with Proposal';

test('reads the project and the target of a synchronous write, then takes a statement each to start and to end', async () => {
  const writer = await createCachedWriter();
  const texts = await listStatements(() => writer.write({ record: createContact() }));
  expect(texts).toEqual([...READ, ACCEPT, 'with WriteTask']);
});

test('takes no more statements for a batch than for a record', async () => {
  const writer = await createCachedWriter();
  const batch = Array.from({ length: 50 }, () => ({ record: createContact() }));
  const texts = await listStatements(() => writer.write({ batch }));
  expect(texts).toEqual([...READ, ACCEPT, 'with WriteTask']);
});

test('shares statements among concurrent writes, each with its own outcome', async () => {
  const writer = await createCachedWriter();
  const records = Array.from({ length: 40 }, () => createContact());
  const responses: Awaited<ReturnType<Writer['write']>>[] = [];
  const texts = await listStatements(async () => {
    responses.push(...(await Promise.all(records.map((record) => writer.write({ record })))));
  });
  expect(responses.map(({ result }) => result.data.email)).toEqual(
    records.map(({ email }) => email),
  );
  expect(responses.every(({ operation }) => operation.status === 'SUCCEEDED')).toBe(true);
  const changes = texts.filter((text) => text.startsWith('with'));
  // Without sharing, each write would take two.
  expect(changes.length).toBeLessThan(2 * records.length);
});

test('runs one of two concurrent writes with one key, and returns its outcome to both', async () => {
  const writer = await createCachedWriter();
  const repeated = { record: createContact(), idempotencyKey: 'the-same' };
  const others = Array.from({ length: 5 }, () => ({ record: createContact() }));
  const responses = await Promise.all(
    [repeated, ...others, repeated].map((input) => writer.write(input)),
  );
  const ids = responses.map(({ operationId }) => operationId);
  expect(ids.at(-1)).toBe(ids[0]);
  expect(new Set(ids).size).toBe(others.length + 1);
  expect(responses.every(({ result }) => result.success)).toBe(true);
  const emails = app.app.sandbox.records('contacts').map(({ email }) => email);
  expect(emails.filter((email) => email === repeated.record.email)).toHaveLength(1);
});

test('takes a statement each to accept and to end an asynchronous write', async () => {
  const writer = await createCachedWriter();
  await using _jobs = await startWriteJobs(app);
  const texts = await listStatements(async () => {
    const { operationId } = await writer.write({ mode: 'ASYNCHRONOUS', record: createContact() });
    await writer.waitForOperation(operationId);
  });
  const changes = texts.filter((text) => text.startsWith('with'));
  // Claims, like all statements of leases, are not recorded.
  expect(changes).toEqual([ACCEPT, 'with WriteTask']);
  const where = { projectId: writer.projectId, status: 'SUCCESS' } as const;
  expect(await services.database.prisma.operation.count({ where })).toBe(3);
});

test('takes three statements for a collected record: the project, the target and the batch', async () => {
  const writer = await createCachedWriter();
  const collectedWrite = { mode: 'ASYNCHRONOUS', autoBatchPolicy: { maxDelayMinutes: 60 } };
  await writer.write({ record: createContact(), ...collectedWrite });
  const texts = await listStatements(() =>
    writer.write({ record: createContact(), ...collectedWrite }),
  );
  // The pending deliveries of a project are counted once a second.
  expect(texts.filter((text) => text !== 'select Destination')).toEqual([...READ, ACCEPT]);
});

test('returns the row of a change as a read does', async () => {
  const writer = await createCachedWriter();
  const { result, statements } = await recordStatements(() =>
    writer.write({ record: createContact() }),
  );
  const end = statements.findLast(({ text }) => nameStatement(text) === 'with WriteTask');
  const { database } = services;
  const operation = await database.prisma.operation.findFirstOrThrow({
    where: { id: result.operationId },
  });
  await database.prisma.operation.updateMany({
    where: { id: operation.id },
    data: { status: 'IN_PROGRESS' },
  });
  const [row] = JSON.parse(String(end?.values[0])) as [WriteEndRow];
  await database.prisma.writeTask.updateMany({
    where: { id: operation.id },
    data: { leaseToken: row.leaseToken },
  });
  const repeatedRow = { ...row, lastLine: { ...row.lastLine, id: newId('log') } };
  expect(await database.changes.run(END_UNREPORTED_WRITES, repeatedRow)).toEqual(operation);
});

/** Counts the jobs that were ever enqueued for writes. */
async function countJobs(): Promise<number> {
  const [row] = await services.database.rows.query<{ count: number }>(
    `select count(*)::int as "count" from pgboss.job where name = 'run-write'`,
    [],
  );
  return row?.count ?? 0;
}

test('enqueues no job for a write that the process runs, and one for a write that it does not', async () => {
  const writer = await createCachedWriter();
  const write = () => writer.write({ mode: 'ASYNCHRONOUS', record: createContact() });
  const before = await countJobs();
  {
    await using _jobs = await startWriteJobs(app);
    const { operationId } = await write();
    expect(await writer.waitForOperation(operationId)).toMatchObject({ status: 'SUCCESS' });
  }
  expect(await countJobs()).toBe(before);
  const { operationId } = await write();
  expect(await countJobs()).toBe(before + 1);
  await using _jobs = await startWriteJobs(app);
  expect(await writer.waitForOperation(operationId)).toMatchObject({ status: 'SUCCESS' });
});
