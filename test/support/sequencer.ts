/** Sorts test files so that all workers are busy until the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Matches files that start servers, fill large tables or wait, and so take much longer than their size suggests. */
const SLOW_FILES =
  /\/(docs\/commands|console\/\w+|browser|commands\/release|process\/[\w-]+|copies\/\w+|database\/([\w-]*migrations|statements|planner\/plans)|flows\/(end-user-\w+|agents\/values-at-providers|provider-event\/salesforce-stream)|declared\/generated|conformance|clients\/manifests|faults\/(operation\/image|backfill|silence|subscribers))\.test\.ts$/;

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
    return bySize.flatMap((specs) => {
      const isSlow = ({ moduleId }: TestSpecification) => SLOW_FILES.test(moduleId);
      return [...specs.filter(isSlow), ...specs.filter((spec) => !isSlow(spec))];
    });
  }
}
