/**
 * PGlite is a PostgreSQL with one session. It is reached as a server is, in PostgreSQL's own protocol, by ports in
 * place of sockets: one connection at a time, and the next one when that has ended and nothing of it is left.
 */
import type { MessagePort } from 'node:worker_threads';
import type { PGlite } from '@electric-sql/pglite';

/** PGlite's way to say that a statement has failed and was undone. */
const STATEMENT_FAILED = 100;

export interface Connections {
  /** Serves it when those before have ended. */
  add(port: MessagePort): void;
  /** Nothing is run any more when it resolves, and nothing is begun. */
  end(): Promise<void>;
}

/** `onDead` is told if PostgreSQL aborts: PGlite would repeat the same step forever. It must not return. */
export function serveConnections(pglite: PGlite, onDead: (error: unknown) => never): Connections {
  let served = Promise.resolve();
  let current: MessagePort | null = null;
  let hasEnded = false;
  const postgres = pglite.Module;
  const step = postgres._PostgresMainLoopOnce;
  postgres._PostgresMainLoopOnce = () => {
    try {
      step();
    } catch (error) {
      if ((error as { status?: number }).status === STATEMENT_FAILED) throw error;
      // Its last words: what it aborts for.
      postgres._pgl_pq_flush();
      onDead(error);
    }
  };
  return {
    add(port) {
      const closed = new Promise<void>((resolve) => port.once('close', resolve));
      served = served.then(async () => {
        if (hasEnded) return port.close();
        current = port;
        await serve(pglite, port, closed);
        current = null;
      });
    },
    async end() {
      hasEnded = true;
      current?.close();
      await served;
    },
  };
}

/** Until the other side closes it. */
async function serve(pglite: PGlite, port: MessagePort, closed: Promise<void>): Promise<void> {
  let turn = Promise.resolve();
  const onRawData = (bytes: Uint8Array) => port.postMessage(bytes.slice());
  port.on('message', (bytes: Uint8Array) => {
    turn = turn.then(() => pglite.execProtocolRawStream(bytes, { onRawData }));
  });
  await closed;
  await turn;
  await pglite.exec('rollback');
  await pglite.exec('discard all');
}
