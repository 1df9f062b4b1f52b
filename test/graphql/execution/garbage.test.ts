/**
 * What a request has read is garbage once it is answered, and costs nothing. If something of old memory leads to it, alive or
 * not, all of it is moved to old memory instead (docs/decisions/048-what-requests-read-dies-young.md).
 */
import { GCProfiler, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { execute, parse } from 'graphql';
import { expect, test } from 'vitest';
import { ALL_SCOPES } from '../../../src/domain/viewer/scopes.ts';
import { createContext } from '../../../src/graphql/execution/context.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { sharedApp } from '../../support/app.ts';
import { fillProject } from '../../support/database/fill.ts';

const COLLECTIONS = 6;
/** Or fewer. */
const PAGES_OF_A_COLLECTION = 250;
const AT_ONCE = 4;
/** The share is 0.006; one entry of a WeakMap for each request makes it 0.076, and one timer for each statement 0.081. */
const MOVED_MAX = 0.03;

const app = await sharedApp();
const { services } = app.app;
const { projectId, orgId, apiKeyId } = await app.tenant();
await fillProject(
  { ...services, query: services.database.rows.query },
  { projectId, number: 0 },
  { few: 3, connections: 3, installations: 9, operations: 50, events: 3 },
);

const PAGE = parse(`{ project(idOrName: "${projectId}") {
  id name
  operations(first: 50) { edges { node { id status actionType createTime metadata { objects } } } }
} }`);

async function readPage(): Promise<void> {
  const viewer = { kind: 'API_KEY', id: apiKeyId, projectId, orgId, scopes: ALL_SCOPES } as const;
  const contextValue = createContext(services, { viewer, requestId: 'test' });
  const { data } = await execute({ schema, document: PAGE, contextValue });
  expect(data).toMatchObject({ project: { operations: { edges: { length: 50 } } } });
}

test('what requests have read is not moved to old memory', async () => {
  setFlagsFromString('--expose-gc');
  const collectAll = runInNewContext('gc') as () => void;
  const profiler = new GCProfiler();
  profiler.start();
  let read = 0;
  const readPages = async () => {
    while (read < COLLECTIONS * PAGES_OF_A_COLLECTION) {
      await readPage();
      read += 1;
      // What is under way is old from then on: what it leads to must not be for that.
      if (read === PAGES_OF_A_COLLECTION) collectAll();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, readPages));
  const { statistics } = profiler.stop();

  const scavenges = statistics.filter(({ gcType }) => gcType === 'Scavenge').slice(-COLLECTIONS);
  const sum = (of: (one: (typeof scavenges)[number]) => number) =>
    scavenges.reduce((all, one) => all + of(one), 0);
  const moved = sum(({ beforeGC, afterGC }) => usedIn(afterGC, 'old') - usedIn(beforeGC, 'old'));
  const allocated = sum(
    ({ beforeGC, afterGC }) => usedIn(beforeGC, 'new') - usedIn(afterGC, 'new'),
  );
  expect(scavenges.length).toBeGreaterThan(1);
  expect(moved / allocated).toBeLessThan(MOVED_MAX);
});

type Statistics = ReturnType<GCProfiler['stop']>['statistics'][number]['beforeGC'];

function usedIn({ heapSpaceStatistics }: Statistics, name: 'old' | 'new'): number {
  const space = heapSpaceStatistics.find(({ spaceName }) => spaceName === `${name}_space`);
  return space?.spaceUsedSize ?? Number.NaN;
}
