import { PGlite } from '@electric-sql/pglite';
import { expect, test } from 'vitest';
import { type Database, openPglite } from '../../src/database/database.ts';
import { newId } from '../../src/domain/ids.ts';
import { createLog } from '../../src/log.ts';
import { testDatabase } from '../support/app.ts';

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
