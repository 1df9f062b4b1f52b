/** In which order files are run, so that all workers have something to do until the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** They start servers of their own, fill large tables or wait, and take far longer than their size says. */
const LONG =
  /\/(docs\/walk|console\/\w+|browser|process\/[\w-]+|copies\/\w+|database\/([\w-]*migrations|statements|planner\/plans)|provider-event\/salesforce-stream|conformance|clients\/manifests)\.test\.ts$/;

/** As vitest orders them, longest first by earlier runs and largest first in a fresh clone, behind the longest of all. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // Those of a project stay together: a worker loads all modules again for another one.
    const ofProjects = Map.groupBy(sorted, ({ project }) => project);
    return [...ofProjects.values()].flatMap((specs) => {
      const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
      return [...specs.filter(isLong), ...specs.filter((spec) => !isLong(spec))];
    });
  }
}
