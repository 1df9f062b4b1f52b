/** What the thread of an embedded database does, wherever that lies: it opens it, serves connections, and closes it. */
import { MessagePort, parentPort } from 'node:worker_threads';
import type { PGlite, PGliteOptions } from '@electric-sql/pglite';
import { StartRefused } from '../../errors.ts';
import type { CopyEnd, CopyOrder, FromEngine, ToEngine } from './engine-messages.ts';
import { serveConnections } from './serve-connections.ts';

/** On PostgreSQL's standard error. */
const LAST_WORDS = /\b(?:PANIC|FATAL): +(.*)/;

/** Ends with the thread. */
export async function runEngine(
  open: (options: PGliteOptions) => Promise<PGlite>,
  copy?: (to: string) => void,
): Promise<void> {
  if (!parentPort) throw new Error('A database is run in a thread of its own.');
  const main = parentPort;
  const tell = (message: FromEngine) => main.postMessage(message);
  let lastWords = '';
  const onStderr = (line: string) => {
    lastWords = LAST_WORDS.exec(line)?.[1] ?? lastWords;
    return false;
  };
  const fail = (error: unknown): never => {
    const message = error instanceof Error ? error.message : String(error);
    tell({ lastWords, message, isRefused: error instanceof StartRefused });
    // Of the thread.
    process.exit();
  };
  const pglite = await open({ onStderr }).catch(fail);
  const connections = serveConnections(pglite, fail);
  main.on('message', async (message: ToEngine) => {
    if (message instanceof MessagePort) return connections.add(message);
    // Nothing runs in the database meanwhile: it has the same thread.
    if (message !== 'close') return main.postMessage(copied(message, copy));
    await connections.end();
    await pglite.close();
    tell('closed');
    main.close();
  });
  tell('open');
}

function copied({ copyTo }: CopyOrder, copy?: (to: string) => void): CopyEnd {
  try {
    if (!copy) throw new Error('it has no files');
    copy(copyTo);
    return { copiedTo: copyTo, failure: null };
  } catch (error) {
    return { copiedTo: copyTo, failure: (error as Error).message };
  }
}
