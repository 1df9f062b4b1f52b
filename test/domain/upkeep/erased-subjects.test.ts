/** A process keeps the IDs of erased subjects while a server of the database is not available. */
import { expect, test } from 'vitest';
import type { ShardGroup } from '../../../src/database/statements/projects/shard-groups.ts';
import type { RunStatement } from '../../../src/database/statements/statements.ts';
import { watchErasedSubjects } from '../../../src/domain/upkeep/erased-subjects.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { getSharedApp } from '../../support/app.ts';

const app = await getSharedApp();
const { database } = app.app.services;
const log = createLog('silent');

/** Simulates two servers, each with a project that has an erasure in progress. */
async function createTwoServers() {
  const projects = await Promise.all(
    ['first', 'second'].map(async (name) => {
      const { projectId } = await app.createTenant();
      const id = newId('grp');
      await database.prisma.erasure.create({ data: { projectId, id } });
      return { projectId, id, shardGroup: createGroup(name, projectId) };
    }),
  );
  const unavailableProjects = new Set<string>();
  const run: RunStatement = async (statement, input) => {
    const isUnavailable = statement
      .readValues(input)
      .flat()
      .some((value) => unavailableProjects.has(String(value)));
    if (isUnavailable) throw new Error('The server is not available.');
    return database.run(statement, input);
  };
  const listShardGroups = async () => projects.map(({ shardGroup }) => shardGroup);
  // The kind must be PostgreSQL, because the embedded database does not poll for erasures.
  return {
    projects,
    unavailableProjects,
    database: { ...database, kind: 'postgres' as const, run, listShardGroups },
  };
}

function createGroup(name: string, projectId: string): ShardGroup {
  return { name, projectIds: () => [projectId], splitIntoParts: (projectIds) => [projectIds] };
}

test('keeps the subjects of an unreachable server, and loads them when it responds again', async () => {
  const { projects, unavailableProjects, database: splitDatabase } = await createTwoServers();
  const [firstId, secondId] = projects.map(({ id }) => id);
  const projectId = projects[1]?.projectId ?? '';
  unavailableProjects.add(projectId);
  await using erased = await watchErasedSubjects(splitDatabase, log);
  expect(erased.ids()).toEqual([firstId]);
  unavailableProjects.delete(projectId);
  await expect.poll(() => erased.ids()).toEqual([firstId, secondId]);
  unavailableProjects.add(projectId);
  await erased.refresh();
  expect(erased.ids()).toEqual([firstId, secondId]);
});

test('throws if no server of the database responds', async () => {
  const { projects, unavailableProjects, database: splitDatabase } = await createTwoServers();
  for (const { projectId } of projects) unavailableProjects.add(projectId);
  await expect(watchErasedSubjects(splitDatabase, log)).rejects.toThrow(
    'The server is not available.',
  );
});
