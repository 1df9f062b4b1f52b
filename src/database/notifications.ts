/**
 * Hints that PostgreSQL passes between transactions and processes (LISTEN and NOTIFY): they come after
 * the commit, and may be lost with a connection. What is stored is the truth; who listens looks for itself.
 */

/** Called without a payload where hints may have been missed: anything may have happened. */
export type OnHint = (payload?: string) => void;

/** Never throws: where the database can't be reached, hints begin when it can. */
export type Listen = (channel: string, onHint: OnHint) => AsyncDisposable;
