/**
 * Notifications wake listeners that wait for a change: within a process that is alone on its database, otherwise by
 * PostgreSQL's LISTEN and NOTIFY. They are sent after the commit, and may be lost with a connection or a process. So
 * listeners read the stored rows, and also poll.
 */

/** The channel and the payload. Equal notifications that are pending at the same time are sent once. */
export type Notification = `${string} ${string}`;

/**
 * Notifies the listeners of all processes. Call it after the commit, because transactions that use NOTIFY wait for each
 * other until they are written to disk (docs/decisions/044-notifications-after-commit.md).
 */
export type Notify = (notifications: readonly Notification[]) => void;

/** Called without a payload if notifications may have been missed, so that anything may have changed. */
export type OnNotification = (payload?: string) => void;

/** Never throws. If the database is unavailable, notifications start once it is available again. */
export type Listen = (channel: string, onNotification: OnNotification) => AsyncDisposable;
