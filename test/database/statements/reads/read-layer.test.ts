import { expect, test } from 'vitest';
import type { Database } from '../../../../src/database/open/database.ts';
import { openEngine } from '../../../../src/database/open/open-embedded.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { createLog } from '../../../../src/kernel/log.ts';
import { createTestDatabase, onPostgres } from '../../../support/app.ts';
import { startUnmigratedEngine } from '../../../support/database/embedded/embedded-databases.ts';
import { queryRows } from '../../../support/database/query.ts';
import { recordStatements } from '../../../support/database/statements.ts';

const createTime = (hour: number) => new Date(Date.UTC(2030, 0, 1, hour));

/** Creates three invites of a new org, which expire at 1, 2 and 3 o'clock. */
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
      role: 'MEMBER' as const,
      status: statuses[index] ?? 'REVOKED',
      expireTime: createTime(index + 1),
    })),
  });
  return { orgId, ids };
}

const sortIds = (rows: { id: string }[]) => rows.map(({ id }) => id).sort();

test('excludes the start of a time range and includes its end', async () => {
  await using database = await createTestDatabase();
  const { orgId, ids } = await insertInvites(database);
  const [first, second, third] = ids;
  const { reads } = database;
  const after = await reads.find('Invite', { orgId, expireTime: { after: createTime(2) } });
  expect(sortIds(after)).toEqual([third]);
  const upTo = await reads.find('Invite', { orgId, expireTime: { upTo: createTime(2) } });
  expect(sortIds(upTo)).toEqual([first, second]);
  expect(await reads.count('Invite', { orgId, expireTime: { upTo: createTime(2) } })).toBe(2);
});

test('returns a page with one row only if the row meets the conditions', async () => {
  await using database = await createTestDatabase();
  const { orgId, ids } = await insertInvites(database);
  const [first] = ids;
  const range = { column: 'id', direction: 'asc', at: first, limit: 1 } as const;
  expect(sortIds(await database.reads.page('Invite', { orgId }, range))).toEqual([first]);
  expect(await database.reads.page('Invite', { orgId: newId('org') }, range)).toEqual([]);
  expect(await database.reads.page('Invite', { id: [ids[1], ids[2]] }, range)).toEqual([]);
});

// Opens an embedded database in either run.
test.skipIf(onPostgres)(
  'filters by several enum values, even directly after the migration that creates the enum',
  { tags: ['all/rows'] },
  async () => {
    await using database = await openEngine(await startUnmigratedEngine(), createLog('silent'));
    const { orgId, ids } = await insertInvites(database);
    const [first, second] = ids;
    const invites = await database.reads.find('Invite', { orgId, status: ['PENDING', 'EXPIRED'] });
    expect(sortIds(invites)).toEqual([first, second]);
  },
);

test('rejects only the failing read of a batch', async () => {
  await using database = await createTestDatabase();
  const { orgId, ids } = await insertInvites(database);
  const { reads } = database;
  const readInvalid = () => reads.find('Invite', { orgId, status: 'NO_STATUS' as never });
  const readValid = () => reads.find('Invite', { orgId, status: 'PENDING' });
  for (let round = 0; round < 2; round += 1) {
    const responses = await Promise.allSettled([
      readValid(),
      readInvalid(),
      readValid(),
      readInvalid(),
      readValid(),
    ]);
    const outcomes = responses.map((result) =>
      result.status === 'fulfilled' ? sortIds(result.value) : result.status,
    );
    expect(outcomes).toEqual([[ids[0]], 'rejected', [ids[0]], 'rejected', [ids[0]]]);
  }
});

test.runIf(onPostgres)(
  'runs reads of one turn of the event loop on one connection, and recovers when the connection is lost',
  async () => {
    await using database = await createTestDatabase();
    const { orgId, ids } = await insertInvites(database);
    const { reads } = database;
    const connections = new Set<unknown>();
    const readAll = () => Promise.all(ids.map((id) => reads.find('Invite', { orgId, id })));
    await recordStatements(readAll, async (connection, { text }) => {
      if (text.includes('"Invite"')) connections.add(connection);
    });
    expect(connections.size).toBe(1);
    await queryRows(
      database,
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()',
      [],
    ).catch(() => {});
    await expect.poll(async () => (await readAll().catch(() => [])).flat().length).toBe(ids.length);
  },
);

async function insertProjects({ prisma }: Database, ...names: string[]) {
  const orgId = newId('org');
  await prisma.org.create({ data: { id: orgId, label: 'Acme' } });
  await prisma.project.createMany({
    data: names.map((name) => ({ id: newId('prj'), orgId, name, appName: 'before' })),
  });
}

test.runIf(onPostgres)(
  'shares one read among lookups of a project in one turn of the event loop',
  async () => {
    await using database = await createTestDatabase();
    const { reads, prisma } = database;
    await insertProjects(database, 'one', 'other');
    const findAppName = async (name: string) => (await reads.findProject({ name }))?.appName;
    const readNames = () => Promise.all(['one', 'other', 'one', 'one'].map(findAppName));
    const { result, statements } = await recordStatements(readNames);
    expect(result).toEqual(['before', 'before', 'before', 'before']);
    expect(statements.map(({ values }) => values)).toEqual([['one'], ['other']]);
    const earlyRead = findAppName('one');
    // The shared read has been sent. A later lookup must not get the older row.
    await new Promise((resolve) => setImmediate(resolve));
    await prisma.project.update({ where: { name: 'one' }, data: { appName: 'after' } });
    expect(await findAppName('one')).toBe('after');
    expect(await earlyRead).toBe('before');
  },
);

test('returns a frozen project, and null for an unknown project', async () => {
  await using database = await createTestDatabase();
  await insertProjects(database, 'one');
  const project = await database.reads.findProject({ name: 'one' });
  expect(() => Object.assign(project as object, { appName: 'other' })).toThrow(TypeError);
  expect(await database.reads.findProject({ name: 'nothing' })).toBeNull();
});

test('returns the same rows from combined lists as from each list', async () => {
  await using database = await createTestDatabase();
  const orgs = [await insertInvites(database), await insertInvites(database)];
  const { reads } = database;
  const range = { column: 'id', direction: 'desc', limit: 2 } as const;
  const wheres = [
    ...orgs.map(({ orgId }) => ({ orgId, status: ['PENDING', 'EXPIRED'] as never })),
    ...orgs.map(({ orgId }) => ({ orgId, expireTime: { after: createTime(2) } })),
    { orgId: newId('org'), expireTime: { after: createTime(2) } },
    { orgId: orgs[0]?.orgId, status: 'REVOKED' as const },
    { orgId: orgs[0]?.orgId, status: 'REVOKED' as const },
  ];
  const lists = wheres.map((where) => ({ table: 'Invite', where, range }) as const);
  const pages = await reads.pages(lists);
  expect(pages.map((page) => page.length)).toEqual([2, 2, 1, 1, 0, 1, 1]);
  for (const [index, where] of wheres.entries()) {
    expect(pages[index]).toEqual(await reads.page('Invite', where, range));
  }
  expect(await reads.counts(lists)).toEqual([2, 2, 1, 1, 0, 1, 1]);
});
