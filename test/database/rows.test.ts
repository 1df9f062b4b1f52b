import { PGlite } from '@electric-sql/pglite';
import { expect, test } from 'vitest';
import { type Database, openPglite } from '../../src/database/database.ts';
import { newId } from '../../src/domain/ids.ts';
import { createLog } from '../../src/log.ts';
import { onPostgres, testDatabase } from '../support/app.ts';
import { recordStatements } from '../support/statements.ts';

const hour = (n: number) => new Date(Date.UTC(2030, 0, 1, n));

/** Three invites of a new org, which end at 1, 2 and 3 o'clock. */
async function insertInvites({ prisma }: Database) {
  const orgId = newId('org');
  await prisma.org.create({ data: { id: orgId, label: 'Acme' } });
  const ids = [newId('inv'), newId('inv'), newId('inv')] as const;
  const statuses = ['PENDING', 'EXPIRED', 'REVOKED'] as const;
  await prisma.invite.createMany({
    data: ids.map((id, index) => ({
      id,
      orgId,
      invitedEmail: `${id}@example.com`,
      status: statuses[index] ?? 'REVOKED',
      expireTime: hour(index + 1),
    })),
  });
  return { orgId, ids };
}

const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id).sort();

test('a range of times leaves out its start and has its end', async () => {
  await using database = await testDatabase();
  const { orgId, ids } = await insertInvites(database);
  const [first, second, third] = ids;
  const { rows } = database;
  const after = await rows.find('Invite', { orgId, expireTime: { after: hour(2) } });
  expect(idsOf(after)).toEqual([third]);
  const upTo = await rows.find('Invite', { orgId, expireTime: { upTo: hour(2) } });
  expect(idsOf(upTo)).toEqual([first, second]);
  expect(await rows.count('Invite', { orgId, expireTime: { upTo: hour(2) } })).toBe(2);
});

test('a page can be one row, but only one that its conditions have', async () => {
  await using database = await testDatabase();
  const { orgId, ids } = await insertInvites(database);
  const [first] = ids;
  const at = { column: 'id', direction: 'asc', at: first, limit: 1 } as const;
  expect(idsOf(await database.rows.page('Invite', { orgId }, at))).toEqual([first]);
  expect(await database.rows.page('Invite', { orgId: newId('org') }, at)).toEqual([]);
  expect(await database.rows.page('Invite', { id: [ids[1], ids[2]] }, at)).toEqual([]);
});

test('several values of an enum are found, also right after the migration that made it', async () => {
  await using database = await openPglite(await PGlite.create(), createLog('silent'));
  const { orgId, ids } = await insertInvites(database);
  const [first, second] = ids;
  const found = await database.rows.find('Invite', { orgId, status: ['PENDING', 'EXPIRED'] });
  expect(idsOf(found)).toEqual([first, second]);
});

test('a read that is refused fails alone, and those beside it are answered', async () => {
  await using database = await testDatabase();
  const { orgId, ids } = await insertInvites(database);
  const { rows } = database;
  const refused = () => rows.find('Invite', { orgId, status: 'NO_STATUS' as never });
  const read = () => rows.find('Invite', { orgId, status: 'PENDING' });
  for (let time = 0; time < 2; time += 1) {
    const answers = await Promise.allSettled([read(), refused(), read(), refused(), read()]);
    const found = answers.map((answer) =>
      answer.status === 'fulfilled' ? idsOf(answer.value) : answer.status,
    );
    expect(found).toEqual([[ids[0]], 'rejected', [ids[0]], 'rejected', [ids[0]]]);
  }
});

test.runIf(onPostgres)('reads of one moment share a connection, and outlive its loss', async () => {
  await using database = await testDatabase();
  const { orgId, ids } = await insertInvites(database);
  const { rows } = database;
  const connections = new Set<unknown>();
  const reads = () => Promise.all(ids.map((id) => rows.find('Invite', { orgId, id })));
  await recordStatements(reads, async (connection) => {
    connections.add(connection);
  });
  expect(connections.size).toBe(1);
  await rows
    .query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()',
      [],
    )
    .catch(() => {});
  await expect.poll(async () => (await reads().catch(() => [])).flat().length).toBe(ids.length);
});

test.runIf(onPostgres)(
  'who looks up the same row in one turn shares a read that comes after',
  async () => {
    await using database = await testDatabase();
    const { rows, prisma } = database;
    const [id, other] = [newId('org'), newId('org')];
    await prisma.org.createMany({ data: [id, other].map((one) => ({ id: one, label: 'before' })) });
    const labelOf = async (one: string) => (await rows.lookUp('Org', { id: one }))?.label;
    const lookUps = () => Promise.all([labelOf(id), labelOf(other), labelOf(id), labelOf(id)]);
    const { result, statements } = await recordStatements(lookUps);
    expect(result).toEqual(['before', 'before', 'before', 'before']);
    expect(statements).toHaveLength(2);
    const early = labelOf(id);
    // The burst has left: who comes now is not to be told what was before.
    await new Promise((resolve) => setImmediate(resolve));
    await prisma.org.update({ where: { id }, data: { label: 'after' } });
    expect(await labelOf(id)).toBe('after');
    expect(await early).toBe('before');
  },
);

test('a row that was looked up can not be changed, and what is not there is null', async () => {
  await using database = await testDatabase();
  const id = newId('org');
  await database.prisma.org.create({ data: { id, label: 'Acme' } });
  const row = await database.rows.lookUp('Org', { id });
  expect(() => Object.assign(row as object, { label: 'other' })).toThrow(TypeError);
  expect(await database.rows.lookUp('Org', { id: newId('org') })).toBeNull();
});

test('many lists with conditions of several kinds are read as each of them by itself', async () => {
  await using database = await testDatabase();
  const orgs = [await insertInvites(database), await insertInvites(database)];
  const { rows } = database;
  const range = { column: 'id', direction: 'desc', limit: 2 } as const;
  const wheres = [
    ...orgs.map(({ orgId }) => ({ orgId, status: ['PENDING', 'EXPIRED'] as never })),
    ...orgs.map(({ orgId }) => ({ orgId, expireTime: { after: hour(2) } })),
    { orgId: newId('org'), expireTime: { after: hour(2) } },
    { orgId: orgs[0]?.orgId, status: 'REVOKED' as const },
    { orgId: orgs[0]?.orgId, status: 'REVOKED' as const },
  ];
  const lists = wheres.map((where) => ({ table: 'Invite', where, range }) as const);
  const pages = await rows.pages(lists);
  expect(pages.map((page) => page.length)).toEqual([2, 2, 1, 1, 0, 1, 1]);
  for (const [index, where] of wheres.entries()) {
    expect(pages[index]).toEqual(await rows.page('Invite', where, range));
  }
  expect(await rows.counts(lists)).toEqual([2, 2, 1, 1, 0, 1, 1]);
});
