import { writeFileSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';

/** The result of one test file in one project of a run. */
export interface FileOutcome {
  file: string;
  project: string;
  passed: number;
  skipped: number;
  failures: { test: string; message: string }[];
}

export interface RunOutcome {
  files: FileOutcome[];
  /** Errors outside of any file. */
  errors: string[];
}

type UnhandledError = SerializedError & { VITEST_TEST_PATH?: string };

/**
 * Reporter that writes a RunOutcome to the file that TEST_OUTCOMES names. Unlike vitest's JSON, it names the project
 * of each file, and a file fails if its worker process died or an error was unhandled while it ran.
 */
export default class Outcomes implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly UnhandledError[]): void {
    const paths = new Set(modules.map(({ moduleId }) => moduleId));
    const homeless = unhandled.filter((error) => !paths.has(error.VITEST_TEST_PATH ?? ''));
    // The error of a worker that died names no file. It belongs to the files that did not finish.
    const died = modules.filter((module) => !hasFinished(module));
    const files = modules.map((module) =>
      outcomeOf(module, [
        ...module.errors(),
        ...unhandled.filter((error) => error.VITEST_TEST_PATH === module.moduleId),
        ...(died.includes(module) ? [{ message: 'The file did not finish.' }, ...homeless] : []),
      ]),
    );
    const errors = died.length > 0 ? [] : homeless.map(textOf);
    const path = process.env.TEST_OUTCOMES;
    if (!path) throw new Error('TEST_OUTCOMES must name the file to write the outcomes to.');
    writeFileSync(path, JSON.stringify({ files, errors } satisfies RunOutcome));
  }
}

function hasFinished(module: TestModule): boolean {
  return ['passed', 'failed', 'skipped'].includes(module.state());
}

function outcomeOf(module: TestModule, errors: readonly SerializedError[]): FileOutcome {
  const outcome: FileOutcome = {
    file: module.relativeModuleId,
    project: module.project.name,
    passed: 0,
    skipped: 0,
    failures: [],
  };
  const fail = (test: string, causes: readonly SerializedError[]) =>
    outcome.failures.push({ test, message: causes.map(textOf).join('\n') });
  for (const test of module.children.allTests()) {
    const { state, errors: own } = test.result();
    if (state === 'passed') outcome.passed += 1;
    else if (state === 'skipped') outcome.skipped += 1;
    else fail(test.fullName, own ?? [{ message: 'The test did not finish.' }]);
  }
  for (const suite of module.children.allSuites()) {
    if (suite.errors().length > 0) fail(`${suite.fullName} (hook)`, suite.errors());
  }
  if (errors.length > 0) fail('(outside of a test)', errors);
  if (outcome.failures.length === 0 && !module.ok()) {
    fail('(whole file)', [{ message: 'The file failed without an error.' }]);
  }
  return outcome;
}

function textOf({ stack, message }: SerializedError): string {
  if (!stack) return message;
  return stack.includes(message) ? stack : `${message}\n${stack}`;
}
