/**
 * What wakes those who wait for a change, called hints here: within a process that is alone on its database, else by
 * PostgreSQL's LISTEN and NOTIFY. They come after the commit, and may be lost with a connection or a process. So a
 * listener reads the stored rows, and looks now and then without one.
 */

/** The channel and the payload. The same one, told twice at the same time, is told once. */
export type Notification = `${string} ${string}`;

/**
 * Tells the listeners of all processes, after the commit of what it is about: a transaction that tells by itself keeps
 * all others that do so waiting until it is written to the disk (docs/decisions/044-hints-after-the-commit.md).
 */
export type Notify = (notifications: readonly Notification[]) => void;

/** Called without a payload if hints may have been missed: anything may have changed. */
export type OnNotification = (payload?: string) => void;

/** Never throws: if the database can't be reached, hints begin when it can. */
export type Listen = (channel: string, onHint: OnNotification) => AsyncDisposable;
