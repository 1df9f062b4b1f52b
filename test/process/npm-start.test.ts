/**
 * The server of `npm start` ends with npm, regardless of the signal that ends npm. Each start takes seconds of CPU time, so
 * a test also ends its last server in another way.
 *
 * @module-tag all/process
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { fillDataFolder } from '../support/database/data-folder.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';

/** The starts of a test may take this long on a busy machine. */
const START_MS = 120_000;
const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'gateway-npm-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
fillDataFolder(join(folder, 'data'));

interface NpmProcess {
  /** The process ID of npm, which is also the ID of its process group. */
  pid: number;
  /** The exit code of npm, or the signal that ended it. */
  exited: Promise<number | string>;
  ready: Promise<string>;
  /** Returns the process ID of the server. */
  findServerPid: () => number;
  readOutput: () => string;
}

/**
 * Runs `npm start`. All runs share a data folder, as on a user's machine, so that a server that has not ended
 * blocks the next start.
 */
function startNpm(env: Record<string, string> = {}): NpmProcess {
  const child = spawn('npm', ['start'], {
    cwd: root,
    detached: true,
    env: {
      ...PROCESS_ENV,
      HOME: process.env.HOME,
      PORT: '0',
      DEMO: 'false',
      DATA_DIR: join(folder, 'data'),
      ...env,
    },
  });
  const pid = child.pid as number;
  onTestFinished(() => killGroup(pid));
  let output = '';
  const ready = Promise.withResolvers<string>();
  const addOutput = (chunk: Buffer) => {
    output += chunk;
    const line = output.split('\n').find((text) => text.includes('"msg":"server.ready"'));
    if (line) ready.resolve(JSON.parse(line).url);
  };
  child.stdout.on('data', addOutput);
  child.stderr.on('data', addOutput);
  const exited = waitForExit(child);
  void exited.then(() => ready.reject(new Error(`npm ended before it was ready:\n${output}`)));
  ready.promise.catch(() => {});
  return {
    pid,
    exited,
    ready: ready.promise,
    findServerPid: () => findChild(pid),
    readOutput: () => output,
  };
}

async function waitForExit(child: ChildProcess): Promise<number | string> {
  const [code, signal] = await once(child, 'exit');
  return code ?? signal;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has no more processes, as the test expects.
  }
}

function findChild(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  expect(children).toHaveLength(1);
  return Number(children[0]);
}

const isAlive = (pid: number) => {
  try {
    // State Z is a zombie: the process has ended, and its parent has not collected it yet.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

/** Signals the process, or the process group if the ID is negative, and expects that npm and its server stop. */
async function expectStop({ exited, findServerPid, readOutput }: NpmProcess, signal: Stop) {
  const serverPid = findServerPid();
  process.kill(signal.pid, signal.name);
  expect(await exited).toBe(0);
  expect(isAlive(serverPid)).toBe(false);
  expect(readOutput().match(/"msg":"server.stopping"/g)).toHaveLength(1);
}

interface Stop {
  pid: number;
  name: NodeJS.Signals;
}

test(
  'ends the server when npm is killed, so that the next start works',
  async () => {
    const { pid, ready, exited, findServerPid } = startNpm();
    const url = await ready;
    const serverPid = findServerPid();
    process.kill(pid, 'SIGKILL');
    expect(await exited).toBe('SIGKILL');
    await expect.poll(() => isAlive(serverPid), { timeout: START_MS }).toBe(false);
    const restarted = startNpm({ PORT: new URL(url).port });
    expect(await restarted.ready).toBe(url);
    // A terminal sends the signal of Ctrl-C to npm and to the server.
    await expectStop(restarted, { pid: -restarted.pid, name: 'SIGINT' });
  },
  START_MS,
);

test(
  'ends a start on a signal to npm alone, so that the next start works',
  async () => {
    const interrupted = startNpm({ DATA_DIR: join(folder, 'cut') });
    await expect.poll(interrupted.readOutput, { timeout: START_MS }).toContain('schema.created');
    process.kill(interrupted.pid, 'SIGINT');
    expect(await interrupted.exited).toBe(0);
    const restarted = startNpm({ DATA_DIR: join(folder, 'cut') });
    await restarted.ready;
    await expectStop(restarted, { pid: restarted.pid, name: 'SIGTERM' });
  },
  START_MS,
);

test(
  'reports every problem of an invalid configuration, and ends npm with the exit code of the server',
  async () => {
    const { exited, readOutput } = startNpm({
      PORT: 'http',
      LOG_LEVEL: 'loud',
      DATABASE_URL: 'postgres://u:hunter2@db/x',
    });
    expect(await exited).toBe(1);
    for (const name of ['PORT', 'LOG_LEVEL', 'ENCRYPTION_KEY'])
      expect(readOutput()).toContain(name);
    expect(readOutput()).not.toContain('hunter2');
  },
  START_MS,
);
