/** How many statements a write takes, and that writes of the same moment share them. */
import { expect, test } from 'vitest';
import { END_UNREPORTED_WRITES, type WriteEndRow } from '../../../src/database/hot/end-writes.ts';
import { newId } from '../../../src/ids.ts';
import { sharedApp } from '../../support/app.ts';
import { OF_CALLERS, recordStatements } from '../../support/database/statements.ts';
import { contact, createWriter, startWriteJobs, type Writer } from '../../support/scenes/writes.ts';

const app = await sharedApp();
const { services } = app.app;

/** The first word of a statement and the first table that it names. */
function nameOf(text: string): string {
  const table = /(?:from|into|update|FROM|INTO|UPDATE) (?:"public"\.)?"(\w+)"/.exec(text)?.[1];
  return `${text.trim().split(/\s/)[0]?.toLowerCase()} ${table}`;
}

async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const { statements } = await recordStatements(work);
  return statements
    .map(({ text }) => text)
    .filter((text) => !OF_CALLERS.test(text))
    .map(nameOf);
}

/** The first write stores that the connection works, so later ones take fewer statements. */
async function warmWriter(): Promise<Writer> {
  const writer = await createWriter(app);
  await writer.write({ record: contact() });
  await writer.write({ record: contact() });
  return writer;
}

const READ = ['select Project', 'select Integration'];
const ACCEPT = 'with IdempotencyKey';

test('a synchronous write reads its project and its target, then takes a statement each to start and to end', async () => {
  const writer = await warmWriter();
  const texts = await statementsOf(() => writer.write({ record: contact() }));
  expect(texts).toEqual([...READ, ACCEPT, 'with WriteTask']);
});

test('a batch takes no more statements than a single record', async () => {
  const writer = await warmWriter();
  const batch = Array.from({ length: 50 }, () => ({ record: contact() }));
  const texts = await statementsOf(() => writer.write({ batch }));
  expect(texts).toEqual([...READ, ACCEPT, 'with WriteTask']);
});

test('writes of the same moment share their statements, and each has its own outcome', async () => {
  const writer = await warmWriter();
  const records = Array.from({ length: 40 }, () => contact());
  const answers: Awaited<ReturnType<Writer['write']>>[] = [];
  const texts = await statementsOf(async () => {
    answers.push(...(await Promise.all(records.map((record) => writer.write({ record })))));
  });
  expect(answers.map(({ result }) => result.data.email)).toEqual(records.map(({ email }) => email));
  expect(answers.every(({ operation }) => operation.status === 'SUCCESS')).toBe(true);
  const changes = texts.filter((text) => text.startsWith('with'));
  // By themselves each would have two.
  expect(changes.length).toBeLessThan(2 * records.length);
});

test('of two writes of the same moment with one key, one is done and both are answered with it', async () => {
  const writer = await warmWriter();
  const given = { record: contact(), idempotencyKey: 'the-same' };
  const others = Array.from({ length: 5 }, () => ({ record: contact() }));
  const answers = await Promise.all([given, ...others, given].map((input) => writer.write(input)));
  const ids = answers.map(({ operationId }) => operationId);
  expect(ids.at(-1)).toBe(ids[0]);
  expect(new Set(ids).size).toBe(others.length + 1);
  expect(answers.every(({ result }) => result.success)).toBe(true);
  const emails = app.app.sandbox.records('contacts').map(({ email }) => email);
  expect(emails.filter((email) => email === given.record.email)).toHaveLength(1);
});

test('an asynchronous write is accepted and ended by a statement each', async () => {
  const writer = await warmWriter();
  await using _jobs = await startWriteJobs(app);
  const texts = await statementsOf(async () => {
    const { operationId } = await writer.write({ mode: 'ASYNCHRONOUS', record: contact() });
    await writer.ended(operationId);
  });
  const changes = texts.filter((text) => text.startsWith('with'));
  // That it is claimed, as all that looks after leases, is not recorded.
  expect(changes).toEqual([ACCEPT, 'with WriteTask']);
  const where = { projectId: writer.projectId, status: 'SUCCESS' } as const;
  expect(await services.database.prisma.operation.count({ where })).toBe(3);
});

test('a collected record takes three statements: project, target, and its place in the batch', async () => {
  const writer = await warmWriter();
  const given = { mode: 'ASYNCHRONOUS', autoBatchPolicy: { maxDelayMinutes: 60 } };
  await writer.write({ record: contact(), ...given });
  const texts = await statementsOf(() => writer.write({ record: contact(), ...given }));
  // Pending deliveries of the project are counted once a second.
  expect(texts.filter((text) => text !== 'select Destination')).toEqual([...READ, ACCEPT]);
});

test('a change gives its row as a read would', async () => {
  const writer = await warmWriter();
  const { result, statements } = await recordStatements(() => writer.write({ record: contact() }));
  const end = statements.at(-1);
  expect(nameOf(end?.text ?? '')).toBe('with WriteTask');
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
  const again = { ...row, lastLine: { ...row.lastLine, id: newId('log') } };
  expect(await database.changes.run(END_UNREPORTED_WRITES, again)).toEqual(operation);
});

/** Jobs that were ever enqueued for writes. */
async function countJobs(): Promise<number> {
  const [row] = await services.database.rows.query<{ count: number }>(
    `select count(*)::int as "count" from pgboss.job where name = 'run-write'`,
    [],
  );
  return row?.count ?? 0;
}

test('a write that its process runs takes no job; one that it leaves to others takes one', async () => {
  const writer = await warmWriter();
  const write = () => writer.write({ mode: 'ASYNCHRONOUS', record: contact() });
  const before = await countJobs();
  {
    await using _jobs = await startWriteJobs(app);
    const { operationId } = await write();
    expect(await writer.ended(operationId)).toMatchObject({ status: 'SUCCESS' });
  }
  expect(await countJobs()).toBe(before);
  const { operationId } = await write();
  expect(await countJobs()).toBe(before + 1);
  await using _jobs = await startWriteJobs(app);
  expect(await writer.ended(operationId)).toMatchObject({ status: 'SUCCESS' });
});
