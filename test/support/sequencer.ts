/** Sorts test files so that all workers are busy until the end. */
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that run longer than 25 s in `.ci/run`, the longest first. They start servers, fill large tables or wait, so
 * their size does not show it.
 */
const SLOW_FILES = [
  'test/console/console.test.ts',
  'test/providers/difficult/difficult-vendors.test.ts',
  'test/database/planner/query-plans.test.ts',
  'test/docs/commands.test.ts',
  'test/console/running-project.test.ts',
  'test/clients/manifests.test.ts',
  'test/commands/usage.test.ts',
  'test/browser/browser.test.ts',
  'test/backup/backup.test.ts',
  'test/providers/catalog/oauth-entries.test.ts',
  'test/conformance/conformance.test.ts',
  'test/providers/difficult/faults.test.ts',
  'test/console/sign-in.test.ts',
  'test/flows/provider-event/salesforce-stream.test.ts',
  'test/process/npm-start.test.ts',
  'test/process/garbage.test.ts',
  'test/flows/credentials/leak-walk.test.ts',
  'test/process/restarts.test.ts',
  'test/commands/run-tests.test.ts',
  'test/providers/declared/generated.test.ts',
  'test/flows/end-user-tenancy.test.ts',
  'test/flows/end-user-sharing.test.ts',
  'test/faults/input-stalls.test.ts',
  'test/faults/operation/image.test.ts',
  'test/faults/embedded.test.ts',
  'test/faults/takeover.test.ts',
  'test/faults/stall/response-stalls.test.ts',
  'test/faults/subscribers.test.ts',
  'test/faults/writes/writes.test.ts',
  'test/faults/silence.test.ts',
  'test/faults/streams.test.ts',
  'test/faults/database/outage.test.ts',
  'test/faults/frozen.test.ts',
  'test/faults/provider-events.test.ts',
  'test/faults/backfill.test.ts',
  'test/faults/operation/rolling-restart.test.ts',
  'test/faults/plan-applies.test.ts',
  'test/faults/feed.test.ts',
  'test/faults/reads.test.ts',
  'test/faults/deliveries.test.ts',
  'test/faults/erasure.test.ts',
  'test/faults/embedded-load.test.ts',
  'test/faults/provider-stream.test.ts',
];

const root = join(import.meta.dirname, '../..');
const RANKS = new Map(SLOW_FILES.map((file, rank) => [join(root, file), rank]));
const getRank = ({ moduleId }: TestSpecification) => RANKS.get(moduleId) ?? SLOW_FILES.length;

/**
 * Runs the slow files of a project first, and projects with few files first: `bench` has only one file, which takes
 * minutes. Otherwise keeps vitest's order: the longest files of earlier runs first, or the largest files in a fresh
 * clone.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // Files of a project stay together, because a worker loads all modules again for another project.
    const specsByProject = Map.groupBy(sorted, ({ project }) => project);
    const bySize = [...specsByProject.values()].toSorted((a, b) => a.length - b.length);
    return bySize.flatMap((specs) => specs.toSorted((a, b) => getRank(a) - getRank(b)));
  }
}
