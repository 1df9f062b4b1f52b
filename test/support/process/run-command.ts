import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { PROCESS_ENV } from './process-env.ts';

const ROOT = join(import.meta.dirname, '../../..');

interface CommandResult {
  code: number;
  /** The text of stdout, followed by that of stderr. */
  output: string;
}

/** Runs a program of `src/commands` until it exits. */
export function runCommand(
  name: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<CommandResult> {
  const file = join(ROOT, 'src', 'commands', `${name}.ts`);
  const options = { cwd: ROOT, env: { ...PROCESS_ENV, ...env } };
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...args], options, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr });
    });
  });
}
