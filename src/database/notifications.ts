/**
 * Hints that PostgreSQL passes between transactions and processes (LISTEN and NOTIFY): they come after
 * the commit, and may be lost with a connection. What is stored is the truth; who listens looks for itself.
 */
import type { PGlite } from '@electric-sql/pglite';
import type { Log } from '../log.ts';

/** Called without a payload where hints may have been missed: anything may have happened. */
export type OnHint = (payload?: string) => void;

/** Never throws: where the database can't be reached, hints begin when it can. */
export type Listen = (channel: string, onHint: OnHint) => AsyncDisposable;

export function listenOnPglite(pglite: PGlite, log: Log): Listen {
  return (channel, onHint) => {
    const listening = pglite.listen(channel, onHint).then(
      (unlisten) => {
        onHint();
        return unlisten;
      },
      (error: unknown) => {
        if (!pglite.closed) log.warn({ err: error, channel }, 'notifications.listen_failed');
      },
    );
    return {
      async [Symbol.asyncDispose]() {
        const unlisten = await listening;
        if (!pglite.closed) await unlisten?.();
      },
    };
  };
}
