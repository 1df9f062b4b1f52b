/**
 * Changes of the same moment share statements: while one is under way, others of its line are collected, and go
 * together with the next one. Nobody waits for more than is there.
 */
import type { Notification, Notify } from '../notifications/notifications.ts';
import type { RunQuery } from '../rows.ts';
import { isRepeatable, TRIES_MAX } from '../transaction.ts';
import { isRefusedStatement } from '../violations.ts';

/** A change that one statement makes for many at once, which it gets as an array of JSON objects. */
export interface ChangeOfMany<I, R> {
  /** Its first row may have `hints` (hint-channels.ts), which are told. */
  text: string;
  /** Changes of one line go one after the other or together; other lines don't wait for them. */
  lineOf(item: I): string;
  /** Tells its rows apart: each has the item's key in `of`. */
  keyOf(item: I): string;
  /** Never there: names the type of its rows. */
  readonly row?: R;
}

export interface SharedChanges {
  /**
   * Makes the change, and gives the row that the statement has for it, or null if it has none. It is committed then.
   * Not inside a transaction. If the database refuses one of the changes, the others are made without it.
   */
  run<I, R>(change: ChangeOfMany<I, R>, item: I): Promise<R | null>;
}

/** The most changes of a statement, and of their JSON, of which one alone may have more. */
const CHANGES_MAX = 100;
const JSON_CHARS_MAX = 1_000_000;

interface Waiting {
  key: string;
  json: string;
  resolve(row: unknown): void;
  reject(error: unknown): void;
}

type AnyChange = ChangeOfMany<unknown, unknown>;

/** In a cluster changes of one project alone share a statement: it runs where their rows are. */
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
        // Those of the same turn go with it.
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

/** Never throws: each of them is told. */
async function send(to: Sending, text: string, changes: Waiting[], tries = 1): Promise<void> {
  try {
    const values = [`[${changes.map(({ json }) => json).join()}]`];
    const rows = await to.query<{ of: string; hints?: Notification[] | null }>(text, values);
    to.tell(rows[0]?.hints ?? []);
    const found = new Map(rows.map(({ of, hints: _hints, ...row }) => [of, row]));
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
