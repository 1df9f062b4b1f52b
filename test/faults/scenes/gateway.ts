/** Starts the server as a separate process, as users do, and measures its memory and CPU time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inject, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Database } from '../../../src/database/database.ts';
import { PROCESS_ENV } from '../../support/process/process-env.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PAGE_BYTES = 4096;
export const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');

/** A line of the server's log. */
export interface LogLine {
  level: string;
  msg: string;
  [fact: string]: unknown;
}

export interface Load {
  /** CPU time as a share of one core. */
  cpuShare: number;
  /** Maximum delay of the event loop. */
  loopDelayMaxMs: number;
}

export interface Gateway {
  url: string;
  pid: number;
  /** The log so far. */
  lines: readonly LogLine[];
  /**
   * CPU time of the main thread so far. The difference over a request measures the work of the process during
   * it, independently of other load on the machine.
   */
  mainThreadMs(): number;
  /** Resident set size of the process. */
  rssBytes(): number;
  /** Memory in use after a garbage collection: the heap and external buffers. */
  usedBytes(): Promise<number>;
  /** Measures the load from now until the returned function is called. */
  watchLoad(): Promise<() => Promise<Load>>;
  /** Drops all later messages to the embedded database, so that it does not respond. */
  silenceDatabase(): Promise<void>;
  /**
   * Measures until the returned function is called. It returns the CPU time of the main thread's longest
   * iteration of the event loop, in milliseconds. Other requests wait this long, without the effect of other
   * processes on the machine.
   */
  watchTurns(): Promise<() => Promise<number>>;
  /** Kills the process with SIGKILL, which has the effect of a crash. */
  kill(): Promise<void>;
  /** Stops the process with SIGTERM. Returns the exit code. */
  stop(): Promise<number | null>;
}

/** Returns the URL of a test's database for another process. */
export async function databaseUrl({ prisma }: Database): Promise<string> {
  const [{ name }] = await prisma.$queryRaw<[{ name: string }]>`
    select current_database() as "name"`;
  return `${inject('postgres').serverUrl}/${name}`;
}

const SILENCE_DATABASE = `
  process.getBuiltinModule('node:worker_threads').MessagePort.prototype.postMessage = () => {};`;

/** Each evaluation restarts the measurement. */
const WATCH_LOAD = `
  (() => {
    const { monitorEventLoopDelay } = process.getBuiltinModule('node:perf_hooks');
    const delays = monitorEventLoopDelay({ resolution: 1 });
    delays.enable();
    const [cpu, startedAt] = [process.cpuUsage(), performance.now()];
    globalThis.watched = {
      cpuShare() {
        const { user, system } = process.cpuUsage(cpu);
        return Math.round((user + system) / (performance.now() - startedAt) / 10) / 100;
      },
      loopDelayMaxMs: () => Math.round(delays.max / 1e6),
    };
    return 1;
  })()`;

/** Every iteration of the event loop ends with its immediates. */
const WATCH_TURNS = `
  globalThis.watchedTurns = {
    longestMicros: 0,
    isOver: false,
    stop() {
      this.isOver = true;
      return Math.round(this.longestMicros / 100) / 10;
    },
  };
  {
    const watched = globalThis.watchedTurns;
    const usedMicros = () => {
      const { user, system } = process.threadCpuUsage();
      return user + system;
    };
    const next = (before) => {
      const now = usedMicros();
      watched.longestMicros = Math.max(watched.longestMicros, now - before);
      if (!watched.isOver) setImmediate(next, now);
    };
    setImmediate(next, usedMicros());
  }
  1`;

/** Starts a gateway and waits until it is ready. It is killed when the test ends. */
export async function startGateway(env: Record<string, string>): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-'));
  const child = spawn(process.execPath, ['--inspect=127.0.0.1:0', 'src/main.ts'], {
    cwd: ROOT,
    env: {
      ...PROCESS_ENV,
      DATA_DIR: folder,
      PORT: '0',
      DEMO: 'false',
      ENCRYPTION_KEY,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  const inspector = waitForLine(
    child.stderr,
    (line) => /^Debugger listening on (\S+)$/.exec(line)?.[1],
  );
  const lines: LogLine[] = [];
  const ready = waitForLine(child.stdout, (line) => {
    if (line.startsWith('{')) lines.push(JSON.parse(line));
    return readyUrl(line);
  });
  const url = await Promise.race([ready, exited]);
  if (typeof url !== 'string') throw new Error(`The gateway exited before it was ready: ${url}`);
  const { evaluate, collectGarbage, close } = await openInspector(await inspector);
  return {
    url,
    pid: child.pid as number,
    lines,
    mainThreadMs: () =>
      Number(readFileSync(`/proc/${child.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    rssBytes: () =>
      PAGE_BYTES * Number(readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ')[1]),
    async usedBytes() {
      await collectGarbage();
      return evaluate('(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())');
    },
    async watchLoad() {
      await evaluate(WATCH_LOAD);
      return async () => ({
        cpuShare: await evaluate('watched.cpuShare()'),
        loopDelayMaxMs: await evaluate('watched.loopDelayMaxMs()'),
      });
    },
    silenceDatabase: async () => void (await evaluate(SILENCE_DATABASE)),
    async watchTurns() {
      await evaluate(WATCH_TURNS);
      return () => evaluate('watchedTurns.stop()');
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async stop() {
      // The process would otherwise wait until the inspector disconnects.
      close();
      child.kill('SIGTERM');
      return exited;
    },
  };
}

function readyUrl(line: string): string | undefined {
  const { msg, url } = line.startsWith('{') ? JSON.parse(line) : {};
  return msg === 'server.ready' ? url : undefined;
}

/**
 * Resolves with the first result of `find` for a line. Later lines are read too, so that the process never
 * blocks on a full pipe.
 */
function waitForLine(
  stream: NodeJS.ReadableStream,
  find: (line: string) => string | undefined,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  createInterface({ input: stream }).on('line', (line) => {
    const found = find(line);
    if (found !== undefined) resolve(found);
  });
  return promise;
}

/** Connects to the inspector of the process, and evaluates expressions that are numbers. */
async function openInspector(address: string) {
  const socket = new WebSocket(address);
  await once(socket, 'open');
  const waiting = new Map<number, (result: { result: { value: number } }) => void>();
  socket.on('message', (text) => {
    const { id, result } = JSON.parse(String(text));
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let last = 0;
  const call = (method: string, params = {}) => {
    last += 1;
    const { promise, resolve } = Promise.withResolvers<{ result: { value: number } }>();
    waiting.set(last, resolve);
    socket.send(JSON.stringify({ id: last, method, params }));
    return promise;
  };
  return {
    async evaluate(expression: string): Promise<number> {
      return (await call('Runtime.evaluate', { expression })).result.value;
    },
    collectGarbage: () => call('HeapProfiler.collectGarbage'),
    close: () => socket.terminate(),
  };
}
