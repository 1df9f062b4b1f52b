/**
 * Runs in the thread of an embedded database: opens it, serves connections and closes it. PGlite is a PostgreSQL with one
 * session. Clients speak PostgreSQL's own protocol over ports instead of sockets. Connections are served one at a time,
 * and each starts with a clean session.
 */
import { MessagePort, parentPort } from 'node:worker_threads';
import type { PGlite, PGliteOptions } from '@electric-sql/pglite';
import { StartRefused } from '../../../kernel/errors.ts';
import type { CopyRequest, CopyResult, FromEngine, ToEngine } from './engine-messages.ts';

/** PGlite's exit code for a statement that failed and was rolled back. */
const STATEMENT_FAILED = 100;

/** PostgreSQL's last line on standard error. */
const FATAL_LINE = /\b(?:PANIC|FATAL): +(.*)/;

/** Opens the database and serves its connections until the main thread sends `close`. */
export async function runEngine(
  open: (options: PGliteOptions) => Promise<PGlite>,
  copy?: (to: string) => void,
): Promise<void> {
  if (!parentPort) throw new Error('Bug: the engine must run in a worker thread.');
  const main = parentPort;
  const post = (message: FromEngine) => main.postMessage(message);
  let lastLogLine = '';
  const onStderr = (line: string) => {
    lastLogLine = FATAL_LINE.exec(line)?.[1] ?? lastLogLine;
    return false;
  };
  const fail = (error: unknown): never => {
    const message = error instanceof Error ? error.message : String(error);
    post({ lastLogLine, message, isRefused: error instanceof StartRefused });
    // Ends the thread, not the process.
    process.exit();
  };
  const pglite = await open({ onStderr }).catch(fail);
  const connections = serveConnections(pglite, fail);
  main.on('message', async (message: ToEngine) => {
    if (message instanceof MessagePort) return connections.add(message);
    // No statement runs during the copy, because it uses the same thread.
    if (message !== 'close') return main.postMessage(copyFiles(message, copy));
    await connections.end();
    await pglite.close();
    post('closed');
    main.close();
  });
  post('open');
}

function copyFiles({ copyTo }: CopyRequest, copy?: (to: string) => void): CopyResult {
  try {
    if (!copy) throw new Error('an in-memory database has no files');
    copy(copyTo);
    return { copiedTo: copyTo, failure: null };
  } catch (error) {
    return { copiedTo: copyTo, failure: (error as Error).message };
  }
}

interface PortConnections {
  /** Serves the connection after the earlier ones have ended. */
  add(port: MessagePort): void;
  /** Resolves when no statement is running, and none will start. */
  end(): Promise<void>;
}

/** Calls `onDead` if PostgreSQL aborts, because PGlite would repeat the same step forever. `onDead` must not return. */
export function serveConnections(
  pglite: PGlite,
  onDead: (error: unknown) => never,
): PortConnections {
  let serving = Promise.resolve();
  let currentPort: MessagePort | null = null;
  let hasEnded = false;
  const postgres = pglite.Module;
  const runStep = postgres._PostgresMainLoopOnce;
  postgres._PostgresMainLoopOnce = () => {
    try {
      runStep();
    } catch (error) {
      if ((error as { status?: number }).status === STATEMENT_FAILED) throw error;
      // Flushes the error that PostgreSQL aborts with.
      postgres._pgl_pq_flush();
      onDead(error);
    }
  };
  return {
    add(port) {
      const closed = new Promise<void>((resolve) => port.once('close', resolve));
      serving = serving.then(async () => {
        if (hasEnded) return port.close();
        currentPort = port;
        await serve(pglite, port, closed);
        currentPort = null;
      });
    },
    async end() {
      hasEnded = true;
      currentPort?.close();
      await serving;
    },
  };
}

/** Serves the connection until the other side closes it. */
async function serve(pglite: PGlite, port: MessagePort, closed: Promise<void>): Promise<void> {
  let lastStep = Promise.resolve();
  const onRawData = (bytes: Uint8Array) => port.postMessage(bytes.slice());
  port.on('message', (bytes: Uint8Array) => {
    lastStep = lastStep.then(() => pglite.execProtocolRawStream(bytes, { onRawData }));
  });
  await closed;
  await lastStep;
  await pglite.exec('rollback');
  await pglite.exec('discard all');
}
