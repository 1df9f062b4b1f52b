/**
 * The server of `npm start` ends with npm, regardless of the signal that ends npm. Each start takes seconds of CPU time, so
 * one test ends its servers in different ways.
 *
 * @module-tag all/process
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { PROCESS_ENV } from '../support/process/process-env.ts';
import { openUnfinishedRequest } from '../support/process/unfinished-request.ts';

/** The starts of a test may take this long on a busy machine. */
const START_MS = 120_000;
const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'gateway-npm-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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

test(
  'ends the server on a signal to npm, when npm is killed, and on Ctrl-C, so that the next start works',
  async () => {
    const interrupted = startNpm();
    await expect.poll(interrupted.readOutput, { timeout: START_MS }).toContain('schema.created');
    process.kill(interrupted.pid, 'SIGTERM');
    expect(await interrupted.exited).toBe(0);

    const killed = startNpm();
    const url = await killed.ready;
    const killedServerPid = killed.findServerPid();
    process.kill(killed.pid, 'SIGKILL');
    expect(await killed.exited).toBe('SIGKILL');
    await expect.poll(() => isAlive(killedServerPid), { timeout: START_MS }).toBe(false);

    const restarted = startNpm({ PORT: new URL(url).port });
    expect(await restarted.ready).toBe(url);
    const serverPid = restarted.findServerPid();
    const request = await openUnfinishedRequest(url);
    // A terminal sends the signal of Ctrl-C to npm and to the server, and npm passes it on.
    process.kill(-restarted.pid, 'SIGINT');
    await expect.poll(restarted.readOutput).toContain('"msg":"server.stopping"');
    expect(await request.complete()).toMatch(/^HTTP\/1\.1 200 /);
    expect(await restarted.exited).toBe(0);
    expect(isAlive(serverPid)).toBe(false);
    expect(restarted.readOutput().match(/"msg":"server.stopping"/g)).toHaveLength(1);
    expect(restarted.readOutput()).toContain('"msg":"server.stopped"');
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
