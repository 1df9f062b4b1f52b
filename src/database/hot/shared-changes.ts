/**
 * Changes that arrive at the same time share statements. While a statement of a line is running, further changes of
 * that line are collected and sent together in the next one. No change waits for others to arrive.
 */
import type { Notification, Notify } from '../notifications/notifications.ts';
import type { RunQuery } from '../rows.ts';
import { isRepeatable, TRIES_MAX } from '../transaction.ts';
import { isRefusedStatement } from '../violations.ts';

/** A statement that executes a change for many inputs, which it reads from an array of JSON objects. */
export interface ChangeOfMany<I, R> {
  /** The first row of its result may have `notifications` (notification-channels.ts), which are sent. */
  text: string;
  /** Changes of one line run one after the other or together. Other lines do not wait for them. */
  lineOf(item: I): string;
  /** The key of an input. Each row of the result has it in `of`. */
  keyOf(item: I): string;
  /** Never set. Carries the type of the result's rows. */
  readonly row?: R;
}

export interface SharedChanges {
  /**
   * Executes the change, commits it, and returns its row of the result, or null if it has none. Must not be called
   * inside a transaction. If the database refuses one of several changes, the others are executed without it.
   */
  run<I, R>(change: ChangeOfMany<I, R>, item: I): Promise<R | null>;
}

/** The most changes of a statement, and the most bytes of their JSON. A single change may exceed the bytes. */
const CHANGES_MAX = 100;
const JSON_CHARS_MAX = 1_000_000;

interface Waiting {
  key: string;
  json: string;
  resolve(row: unknown): void;
  reject(error: unknown): void;
}

type AnyChange = ChangeOfMany<unknown, unknown>;

/** In a cluster, only changes of one project share a statement, which runs on the node of their rows. */
export function createSharedChanges(
  query: RunQuery,
  tell: Notify,
  { isDistributed = false }: { isDistributed?: boolean } = {},
): SharedChanges {
  const to = { query, tell };
  const lines = new WeakMap<object, Map<string, Waiting[]>>();
  const linesOf = (change: AnyChange) => {
    const known = lines.get(change) ?? new Map<string, Waiting[]>();
    lines.set(change, known);
    return known;
  };
  const sendAll = async (change: AnyChange, name: string, line: Waiting[]) => {
    while (line.length > 0) await send(to, change.text, takeSome(line));
    linesOf(change).delete(name);
  };
  return {
    run<I, R>(change: ChangeOfMany<I, R>, item: I) {
      const own = change as AnyChange;
      const name = isDistributed
        ? `${projectOf(item)} ${change.lineOf(item)}`
        : change.lineOf(item);
      return new Promise<R | null>((resolve, reject) => {
        const waiting = {
          key: change.keyOf(item),
          json: JSON.stringify(item),
          resolve: resolve as Waiting['resolve'],
          reject,
        };
        const line = linesOf(own).get(name);
        if (line) {
          line.push(waiting);
          return;
        }
        const begun = [waiting];
        linesOf(own).set(name, begun);
        // Changes of the same turn of the event loop join the statement.
        setImmediate(() => void sendAll(own, name, begun));
      });
    },
  };
}

function projectOf(item: unknown): string {
  return (item as { projectId: string }).projectId;
}

function takeSome(line: Waiting[]): Waiting[] {
  let [count, chars] = [0, 0];
  for (const { json } of line) {
    chars += json.length;
    if (count === CHANGES_MAX || (count > 0 && chars > JSON_CHARS_MAX)) break;
    count += 1;
  }
  return line.splice(0, count);
}

interface Sending {
  query: RunQuery;
  tell: Notify;
}

/** Never throws: each waiting change gets the error. */
async function send(to: Sending, text: string, changes: Waiting[], tries = 1): Promise<void> {
  try {
    const values = [`[${changes.map(({ json }) => json).join()}]`];
    const rows = await to.query<{ of: string; notifications?: Notification[] | null }>(
      text,
      values,
    );
    to.tell(rows[0]?.notifications ?? []);
    const found = new Map(rows.map(({ of, notifications: _notifications, ...row }) => [of, row]));
    for (const { key, resolve } of changes) resolve(found.get(key) ?? null);
  } catch (error) {
    if (isRepeatable(error) && tries < TRIES_MAX) {
      await send(to, text, changes, tries + 1);
    } else if (changes.length > 1 && isRefusedStatement(error)) {
      for (const change of changes) await send(to, text, [change]);
    } else {
      for (const { reject } of changes) reject(error);
    }
  }
}
