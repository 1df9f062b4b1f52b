/** Starts a server in a separate process, and reads its resource use. */
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROCESS_ENV } from '../../test/support/process/process-env.ts';
import { readProcessCpuMs } from './cpu.ts';

const START_MS = 180_000;
const POLL_MS = 5;
/** A longer start is polled less often: its time is known to 1 %. */
const POLL_SHARE = 0.01;
const ROOT = join(import.meta.dirname, '..', '..');

export interface Server extends AsyncDisposable {
  url: string;
  pid: number;
  /** Returns the user and system time of all its threads so far. */
  readCpuMs(): number;
  readMemoryBytes(): number;
  /** Returns the exit code or signal and the end of the log if the server has ended, otherwise null. */
  describeEnd(): string | null;
}

export interface ServerToStart {
  /** Path relative to the project's folder. */
  script: string;
  port: number;
  env: Record<string, string>;
  /** A path that returns 200 when the server is ready. Absent if the server has only GraphQL. */
  readyPath?: string;
  /** Headers of the requests by which the bench waits for a server without `readyPath`. */
  pingHeaders?: Record<string, string>;
  /** The folder for its V8 profile, which is written at exit. */
  profile?: string | undefined;
}

/** Starts the server and waits for its first response. Throws with the end of its log if there is none. */
export async function startServer({
  script,
  port,
  env,
  readyPath,
  pingHeaders,
  profile,
}: ServerToStart): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-server-'));
  const logPath = join(folder, 'log');
  const log = openSync(logPath, 'a');
  const child = spawn(process.execPath, [...createProfileFlags(profile), join(ROOT, script)], {
    cwd: ROOT,
    stdio: ['ignore', log, log],
    env: { ...PROCESS_ENV, NODE_ENV: 'production', PORT: String(port), ...env },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  const readLogEnd = () => readFileSync(logPath, 'utf8').slice(-2_000);
  const removeLog = () => rmSync(folder, { recursive: true, force: true });
  // Stops the server if this process ends early.
  const kill = () => {
    child.kill('SIGKILL');
    removeLog();
  };
  process.once('exit', kill);
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    process.off('exit', kill);
    removeLog();
  };
  try {
    const send = readyPath
      ? () => fetch(`${url}${readyPath}`)
      : () => fetch(`${url}/graphql`, createPing(pingHeaders));
    await waitUntilReady(send, () => child.exitCode);
  } catch (error) {
    const logEnd = readLogEnd();
    await stop();
    throw new Error(`${script} does not start:\n${logEnd}`, { cause: error });
  }
  const pid = child.pid!;
  return {
    url,
    pid,
    readCpuMs: () => readProcessCpuMs(pid),
    readMemoryBytes: () => readMemoryBytes(pid),
    describeEnd() {
      const end = child.exitCode ?? child.signalCode;
      return end === null ? null : `${script} ended with ${end}:\n${readLogEnd()}`;
    },
    [Symbol.asyncDispose]: stop,
  };
}

function createProfileFlags(folder: string | undefined): string[] {
  return folder ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : [];
}

const createPing = (headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ operationName: 'Ping', query: 'query Ping { __typename }' }),
});

async function waitUntilReady(send: () => Promise<Response>, exitCode: () => number | null) {
  const beginMs = performance.now();
  for (let waitedMs = 0; waitedMs < START_MS; waitedMs = performance.now() - beginMs) {
    if (exitCode() !== null) throw new Error(`ended with ${exitCode()}`);
    try {
      const response = await send();
      await response.arrayBuffer();
      if (response.ok) return;
    } catch {
      // The server does not listen yet.
    }
    await sleep(Math.max(POLL_MS, waitedMs * POLL_SHARE));
  }
  throw new Error(`not ready after ${START_MS} ms`);
}

function readMemoryBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
