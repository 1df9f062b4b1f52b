/** How few statements a write takes, and that writes of the same moment share them. */
import { expect, test } from 'vitest';
import { END_UNTOLD_WRITES, type WriteEndRow } from '../../../src/database/changes/end-writes.ts';
import { newId } from '../../../src/ids.ts';
import { onCitus, sharedApp } from '../../support/app.ts';
import { OF_CALLERS, recordStatements } from '../../support/database/statements.ts';
import {
  contact,
  createWriter,
  startWriteJobs,
  WRITE,
  type Writer,
} from '../../support/scenes/writes.ts';

const app = await sharedApp();
const { services } = app.app;

/** What a statement is about: the first table that it names, after the word that it begins with. */
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

/** Its connection is known to work: that it does is stored with the first write. */
async function warmWriter(): Promise<Writer> {
  const writer = await createWriter(app);
  await writer.write({ record: contact() });
  await writer.write({ record: contact() });
  return writer;
}

/** Nothing that its rows say: they only have other versions now. */
async function touch({ projectId }: Writer): Promise<void> {
  const { prisma } = services.database;
  const { count } = await prisma.integration.updateMany({
    where: { projectId },
    data: { projectId },
  });
  expect(count).toBe(1);
}

/** A key has one project: nothing waits for the look at it. */
const TOGETHER = ['select Integration', 'select Project'];
/** What a write goes to is looked at where it is accepted, if it is known; in a cluster it is read. */
const READ = onCitus ? TOGETHER : [];
const ACCEPT = onCitus ? 'with IdempotencyKey' : 'with Project';

test('a synchronous write to where the last one went takes two statements: its start and its end', async () => {
  const writer = await warmWriter();
  const texts = await statementsOf(() => writer.write({ record: contact() }));
  expect(texts).toEqual([...READ, ACCEPT, 'with WriteTask']);
});

test.skipIf(onCitus)(
  'a target that has changed is read with its project, and known again',
  async () => {
    const writer = await warmWriter();
    await touch(writer);
    const texts = await statementsOf(() => writer.write({ record: contact() }));
    expect(texts).toEqual([ACCEPT, ...TOGETHER, 'with IdempotencyKey', 'with WriteTask']);
    const after = await statementsOf(() => writer.write({ record: contact() }));
    expect(after).toEqual([ACCEPT, 'with WriteTask']);
  },
);

test.skipIf(onCitus).each(['groupId', 'consumerId'] as const)(
  'a target is not known any more once its %s is being erased',
  async (column) => {
    const { projectId, ...writer } = await warmWriter();
    const { prisma } = services.database;
    const connection = await prisma.connection.findFirstOrThrow({ where: { projectId } });
    await prisma.erasure.create({ data: { projectId, id: connection[column] } });
    // What comes of it is another matter: it is looked at anew.
    const texts = await statementsOf(() => writer.write({ record: contact() }).catch(() => null));
    expect(texts.slice(0, 3)).toEqual([ACCEPT, ...TOGETHER]);
  },
);

test.skipIf(onCitus)('a target is read anew after an outage of the database', async () => {
  const writer = await warmWriter();
  // What has taken over may give a row the version that a lost server gave it.
  services.database.outages.told(new Error('Connection terminated'));
  const texts = await statementsOf(() => writer.write({ record: contact() }));
  expect(texts.slice(0, 2)).toEqual(TOGETHER);
  expect(await statementsOf(() => writer.write({ record: contact() }))).toEqual([
    ACCEPT,
    'with WriteTask',
  ]);
});

test.skipIf(onCitus)('a target that is gone is looked for in vain once', async () => {
  const { installationId, ...writer } = await warmWriter();
  const remove = `mutation ($input: DeleteInstallationInput!) { deleteInstallation(input: $input) { __typename } }`;
  await writer.query(remove, { input: { projectIdOrName: writer.projectId, installationId } });
  const refused = () =>
    statementsOf(() => writer.refusal(WRITE, writer.input({ record: contact() })));
  expect(await refused()).toEqual([ACCEPT, ...TOGETHER]);
  expect(await refused()).toEqual(TOGETHER);
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

test('a record that is collected takes three statements: what it goes to with its project, and its place', async () => {
  const writer = await warmWriter();
  const given = { mode: 'ASYNCHRONOUS', autoBatchPolicy: { maxDelayMinutes: 60 } };
  await writer.write({ record: contact(), ...given });
  const texts = await statementsOf(() => writer.write({ record: contact(), ...given }));
  // What the project is owed is counted once a second.
  expect(texts.filter((text) => text !== 'select Destination')).toEqual([
    ...TOGETHER,
    'with IdempotencyKey',
  ]);
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
  expect(await database.changes.run(END_UNTOLD_WRITES, again)).toEqual(operation);
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
