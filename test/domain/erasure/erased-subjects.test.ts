/** What a process knows of erasures while one of the database's servers does not answer. */
import { expect, test } from 'vitest';
import type { ProjectGroup } from '../../../src/database/projects/project-groups.ts';
import { watchErasedSubjects } from '../../../src/domain/erasure/erased-subjects.ts';
import { newId } from '../../../src/ids.ts';
import { createLog } from '../../../src/log.ts';
import { sharedApp } from '../../support/app.ts';

const app = await sharedApp();
const { database } = app.app.services;
const log = createLog('silent');

/** Two servers, each with a project in which something is being erased. */
async function twoServers() {
  const places = await Promise.all(
    ['first', 'second'].map(async (name) => {
      const { projectId } = await app.tenant();
      const id = newId('grp');
      await database.prisma.erasure.create({ data: { projectId, id } });
      return { projectId, id, group: groupOf(name, projectId) };
    }),
  );
  const away = new Set<string>();
  const query: typeof database.rows.query = async (text, values, rowMode) => {
    const isAway = values.flat().some((value) => away.has(String(value)));
    if (isAway) throw new Error('The server is away.');
    return database.rows.query(text, values, rowMode);
  };
  const groups = async () => places.map(({ group }) => group);
  const rows = { ...database.rows, query };
  // An embedded one has a single process, which needs no looks.
  return { places, away, database: { ...database, kind: 'postgres' as const, rows, groups } };
}

function groupOf(name: string, projectId: string): ProjectGroup {
  return { name, projectIds: () => [projectId], together: (some) => [some] };
}

test('what a server told stays while it is away, and what it did not tell comes when it is back', async () => {
  const { places, away, database: spread } = await twoServers();
  const [first, second] = places.map(({ id }) => id);
  const [, { projectId = '' } = {}] = places;
  away.add(projectId);
  await using erased = await watchErasedSubjects(spread, log);
  expect(erased.ids()).toEqual([first]);
  away.delete(projectId);
  await expect.poll(() => erased.ids(), { timeout: 8_000 }).toEqual([first, second]);
  away.add(projectId);
  await erased.refresh();
  expect(erased.ids()).toEqual([first, second]);
});

test('a database that does not answer at all is told', async () => {
  const { places, away, database: spread } = await twoServers();
  for (const { projectId } of places) away.add(projectId);
  await expect(watchErasedSubjects(spread, log)).rejects.toThrow('The server is away.');
});
