/**
 * Changes that arrive at the same time share statements. While a statement of a queue is running, further changes of
 * that queue are collected and sent together in the next one. No change waits for others to arrive.
 */

import { isRepeatable, TRIES_MAX } from '../../connect/repeatable-errors.ts';
import type { RunQuery } from '../../connect/run-query.ts';
import { isRefusedStatement } from '../../connect/violations.ts';
import type { Notification, Notify } from '../../transactions/notifications.ts';
import { notifyAfterCommit, type Transaction } from '../../transactions/transaction.ts';

/**
 * A statement that executes a change for many inputs, which it reads from an array of JSON objects. The first row of its
 * result may have `notifications` (notification-channels.ts), which are sent after the commit.
 */
export interface ChangeStatement<I, R = unknown> {
  text: string;
  /** Never set. Carries the types of the inputs and of the result's rows. */
  readonly types?: (input: I) => R;
}

/** A change statement that concurrent callers share. */
export interface SharedStatement<I, R> extends ChangeStatement<I, R> {
  /** Changes of one queue run one after the other or together. Other queues do not wait for them. */
  getQueue(input: I): string;
  /** The key of an input. Each row of the result has it in the column `key`. */
  getKey(input: I): string;
}

/**
 * Executes the change, commits it, and returns its row of the result, or null if it has none. Must not be called inside
 * a transaction. If the database refuses one of several changes, the others are executed without it.
 */
export type RunShared = <I, R>(statement: SharedStatement<I, R>, input: I) => Promise<R | null>;

/** Executes a change statement in a transaction, and sends its notifications after the commit. */
export async function runInTransaction<I, R>(
  tx: Transaction,
  { text }: ChangeStatement<I, R>,
  inputs: readonly I[],
): Promise<R[]> {
  const rows = await tx.$queryRawUnsafe<(R & { notifications?: Notification[] | null })[]>(
    text,
    JSON.stringify(inputs),
  );
  notifyAfterCommit(tx, ...(rows[0]?.notifications ?? []));
  return rows;
}

/** The maximum number of changes in a statement. */
const CHANGES_MAX = 100;
/** The maximum length of their JSON. A single change may be longer. */
const JSON_CHARS_MAX = 1_000_000;

interface WaitingChange {
  key: string;
  json: string;
  resolve(row: unknown): void;
  reject(error: unknown): void;
}

/** In a cluster, only changes of one project share a statement, which runs on the node of their rows. */
export function createRunShared(
  query: RunQuery,
  notify: Notify,
  { isDistributed = false }: { isDistributed?: boolean } = {},
): RunShared {
  const queues = new WeakMap<object, Map<string, WaitingChange[]>>();
  const getQueues = (change: object) => {
    const queuesOfChange = queues.get(change) ?? new Map<string, WaitingChange[]>();
    queues.set(change, queuesOfChange);
    return queuesOfChange;
  };
  const sendAll = async (change: { text: string }, name: string, queue: WaitingChange[]) => {
    const statement = { query, notify, text: change.text };
    while (queue.length > 0) await send(statement, takeBatch(queue));
    getQueues(change).delete(name);
  };
  return <I, R>(change: SharedStatement<I, R>, input: I) => {
    const queueName = change.getQueue(input);
    const name = isDistributed ? `${getProjectId(input)} ${queueName}` : queueName;
    return new Promise<R | null>((resolve, reject) => {
      const waitingChange = {
        key: change.getKey(input),
        json: JSON.stringify(input),
        resolve: resolve as WaitingChange['resolve'],
        reject,
      };
      const queue = getQueues(change).get(name);
      if (queue) {
        queue.push(waitingChange);
        return;
      }
      const newQueue = [waitingChange];
      getQueues(change).set(name, newQueue);
      // Changes of the same turn of the event loop join the statement.
      setImmediate(() => void sendAll(change, name, newQueue));
    });
  };
}

function getProjectId(input: unknown): string {
  return (input as { projectId: string }).projectId;
}

function takeBatch(queue: WaitingChange[]): WaitingChange[] {
  let count = 0;
  let chars = 0;
  for (const { json } of queue) {
    chars += json.length;
    if (count === CHANGES_MAX || (count > 0 && chars > JSON_CHARS_MAX)) break;
    count += 1;
  }
  return queue.splice(0, count);
}

interface SentStatement {
  query: RunQuery;
  notify: Notify;
  text: string;
}

/** Sends the changes in one statement. Never throws: each waiting change gets the error. */
async function send(statement: SentStatement, changes: WaitingChange[], tries = 1): Promise<void> {
  const { query, notify, text } = statement;
  try {
    const values = [`[${changes.map(({ json }) => json).join()}]`];
    const rows = await query<{ key: string; notifications?: Notification[] | null }>(text, values);
    notify(rows[0]?.notifications ?? []);
    const results = new Map(
      rows.map(({ key, notifications: _notifications, ...row }) => [key, row]),
    );
    for (const { key, resolve } of changes) resolve(results.get(key) ?? null);
  } catch (error) {
    if (isRepeatable(error) && tries < TRIES_MAX) {
      await send(statement, changes, tries + 1);
    } else if (changes.length > 1 && isRefusedStatement(error)) {
      for (const change of changes) await send(statement, [change]);
    } else {
      for (const { reject } of changes) reject(error);
    }
  }
}
