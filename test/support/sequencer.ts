/** Sorts test files so that all workers are busy until the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that start servers, fill large tables or wait. They take much longer than their size suggests. */
const SLOW_FILES =
  /\/(docs\/walk|console\/\w+|browser|process\/[\w-]+|copies\/\w+|database\/([\w-]*migrations|statements|planner\/plans)|provider-event\/salesforce-stream|conformance|clients\/manifests)\.test\.ts$/;

/**
 * Runs `SLOW_FILES` first. Keeps vitest's order otherwise: longest first by earlier runs, or largest
 * first in a fresh clone.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // Files of a project stay together, because a worker loads all modules again for another project.
    const specsByProject = Map.groupBy(sorted, ({ project }) => project);
    return [...specsByProject.values()].flatMap((specs) => {
      const isSlow = ({ moduleId }: TestSpecification) => SLOW_FILES.test(moduleId);
      return [...specs.filter(isSlow), ...specs.filter((spec) => !isSlow(spec))];
    });
  }
}
