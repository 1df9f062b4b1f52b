/** Lists erased subjects while one of the database's servers does not respond. */
import { expect, test } from 'vitest';
import type { ProjectGroup } from '../../../src/database/projects/project-groups.ts';
import { watchErasedSubjects } from '../../../src/domain/erasure/erased-subjects.ts';
import { newId } from '../../../src/ids.ts';
import { createLog } from '../../../src/log.ts';
import { getSharedApp } from '../../support/app.ts';

const app = await getSharedApp();
const { database } = app.app.services;
const log = createLog('silent');

/** Two servers, each with a project that has an erasure in progress. */
async function createTwoServers() {
  const projects = await Promise.all(
    ['first', 'second'].map(async (name) => {
      const { projectId } = await app.tenant();
      const id = newId('grp');
      await database.prisma.erasure.create({ data: { projectId, id } });
      return { projectId, id, group: createGroup(name, projectId) };
    }),
  );
  const unavailable = new Set<string>();
  const query: typeof database.rows.query = async (text, values, rowMode) => {
    const isAway = values.flat().some((value) => unavailable.has(String(value)));
    if (isAway) throw new Error('The server is away.');
    return database.rows.query(text, values, rowMode);
  };
  const groups = async () => projects.map(({ group }) => group);
  const rows = { ...database.rows, query };
  // The embedded kind has a single process and does not poll, so the database claims to be PostgreSQL.
  return {
    projects,
    unavailable,
    database: { ...database, kind: 'postgres' as const, rows, groups },
  };
}

function createGroup(name: string, projectId: string): ProjectGroup {
  return { name, projectIds: () => [projectId], splitIntoParts: (projectIds) => [projectIds] };
}

test('keeps the subjects of an unreachable server, and loads them when it responds again', async () => {
  const { projects, unavailable, database: spread } = await createTwoServers();
  const [first, second] = projects.map(({ id }) => id);
  const [, { projectId = '' } = {}] = projects;
  unavailable.add(projectId);
  await using erased = await watchErasedSubjects(spread, log);
  expect(erased.ids()).toEqual([first]);
  unavailable.delete(projectId);
  await expect.poll(() => erased.ids(), { timeout: 8_000 }).toEqual([first, second]);
  unavailable.add(projectId);
  await erased.refresh();
  expect(erased.ids()).toEqual([first, second]);
});

test('throws if no server of the database responds', async () => {
  const { projects, unavailable, database: spread } = await createTwoServers();
  for (const { projectId } of projects) unavailable.add(projectId);
  await expect(watchErasedSubjects(spread, log)).rejects.toThrow('The server is away.');
});
