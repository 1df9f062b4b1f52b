import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import { vi } from 'vitest';
import { PROCESS_ENV } from './process-env.ts';

const ROOT = join(import.meta.dirname, '../../..');

interface CommandResult {
  code: number;
  /** The text of stdout, followed by that of stderr. */
  output: string;
}

type CommandEnv = Record<string, string>;

const getCommandFile = (name: string) => join(ROOT, 'src', 'commands', `${name}.ts`);

/** Runs a program of `src/commands` as a separate process until it exits. */
export function runCommand(
  name: string,
  args: readonly string[],
  env: CommandEnv,
): Promise<CommandResult> {
  const options = { cwd: ROOT, env: { ...PROCESS_ENV, ...env } };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [getCommandFile(name), ...args],
      options,
      (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), output: stdout + stderr });
      },
    );
  });
}

let evaluationCount = 0;

/**
 * Runs a program of `src/commands` in this process, in which the gateway's modules are loaded and compiled already. A
 * separate process takes half a second of CPU time to load them. Run one program at a time, because its arguments and
 * environment belong to the whole process.
 */
export async function runCommandInProcess(
  name: string,
  args: readonly string[],
  env: CommandEnv,
): Promise<CommandResult> {
  const { argv, env: originalEnv, exitCode } = process;
  let output = '';
  const addLine = (...values: unknown[]) => {
    output += `${format(...values)}\n`;
  };
  const spies = [
    vi.spyOn(console, 'log').mockImplementation(addLine),
    vi.spyOn(console, 'error').mockImplementation(addLine),
  ];
  process.argv = [process.execPath, getCommandFile(name), ...args];
  process.env = { ...PROCESS_ENV, ...env };
  process.exitCode = 0;
  try {
    // Node evaluates a module again if its URL is new.
    evaluationCount += 1;
    await import(`${pathToFileURL(getCommandFile(name)).href}?${evaluationCount}`);
    return { code: Number(process.exitCode), output };
  } finally {
    Object.assign(process, { argv, env: originalEnv, exitCode });
    for (const spy of spies) spy.mockRestore();
  }
}
