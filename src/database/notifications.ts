/**
 * Notifications that PostgreSQL passes between transactions and processes (LISTEN and NOTIFY), called hints here:
 * they come after the commit, and may be lost with a connection. So a listener reads the stored rows.
 */

/** Called without a payload if hints may have been missed: anything may have changed. */
export type OnHint = (payload?: string) => void;

/** Never throws: if the database can't be reached, hints begin when it can. */
export type Listen = (channel: string, onHint: OnHint) => AsyncDisposable;
