/** Runs vitest, and returns the outcome of each file. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { RunOutcome } from './outcomes.ts';

const REPORTER = join(import.meta.dirname, 'outcomes.ts');
const VITEST_FOLDER = dirname(createRequire(import.meta.url).resolve('vitest/package.json'));

/** A run of vitest that has ended. */
export interface EndedRun {
  name: string;
  exitCode: number;
  /** Null if the run wrote no outcome. */
  outcome: RunOutcome | null;
}

/** Runs vitest with these arguments, which may name reporters. Its output goes to this terminal. */
export async function runVitest(name: string, args: readonly string[]): Promise<EndedRun> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-outcomes-'));
  const path = join(folder, 'outcomes.json');
  const hasReporter = args.some((argument) => argument.startsWith('--reporter'));
  const reporters = hasReporter ? [REPORTER] : ['default', REPORTER];
  const program = [join(VITEST_FOLDER, 'vitest.mjs'), 'run', ...args];
  const removeFolder = () => rmSync(folder, { recursive: true });
  // `finally` does not run if a signal ends this process.
  process.once('exit', removeFolder);
  const vitest = spawn(
    process.execPath,
    [...program, ...reporters.map((reporter) => `--reporter=${reporter}`)],
    { stdio: 'inherit', env: { ...process.env, TEST_OUTCOMES: path } },
  );
  try {
    return { name, exitCode: await waitForExit(vitest), outcome: readOutcome(path) };
  } finally {
    process.off('exit', removeFolder);
    removeFolder();
  }
}

/** Returns null if the file does not exist. */
export function readOutcome(path: string): RunOutcome | null {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
}

/**
 * Returns the exit code, which is 128 and the number of the signal if vitest crashed. Ends this process if it received a
 * signal, because a canceled run must not be retried. A terminal sends Ctrl+C to both processes.
 */
async function waitForExit(vitest: ChildProcess): Promise<number> {
  const received: NodeJS.Signals[] = [];
  const onSignal = (signal: NodeJS.Signals) => {
    received.push(signal);
    if (signal === 'SIGTERM' || !process.stdin.isTTY) vitest.kill(signal);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const [code, endSignal] = (await once(vitest, 'exit')) as [number | null, NodeJS.Signals | null];
  process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  const [cancelSignal] = received;
  if (cancelSignal) process.exit(128 + constants.signals[cancelSignal]);
  return endSignal ? 128 + constants.signals[endSignal] : (code ?? 1);
}
