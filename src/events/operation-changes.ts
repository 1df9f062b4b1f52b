/**
 * Publishes changes of operations. One reader serves all followers in this process. Database notifications and polling
 * wake it. A follower gets the newest state, but not every state in between.
 */
import type { Database } from '../database/open/database.ts';
import type { Row } from '../database/statements/tables.ts';
import { OPERATIONS_CHANNEL } from '../database/transactions/notification-channels.ts';
import type { Log } from '../kernel/log.ts';
import { Outage } from '../work/outage.ts';
import { Signal } from '../work/signal.ts';
import { ResultStreamItem } from './result-stream-item.ts';

/** The poll interval: the longest delay of a change whose notification was lost. */
const POLL_MS = 1_000;
/** The maximum number of operations that one statement reads. */
const READ_BATCH = 500;

type OperationRow = Row<'Operation'>;
export type OperationItem = ResultStreamItem<OperationRow>;

export interface OperationChanges extends AsyncDisposable {
  /** Yields the operation in its current state, then after each change. Completes when it has ended or was deleted. */
  follow(operation: OperationRow): AsyncIterableIterator<OperationItem>;
}

export function createOperationChanges(
  database: Database,
  log: Log,
  { pollMs = POLL_MS } = {},
): OperationChanges {
  const reader = new OperationReader(database, log);
  const subscription = database.listen(OPERATIONS_CHANNEL, (id) => {
    void (id === undefined ? reader.readAll() : reader.read([id]));
  });
  const timer = setInterval(() => void reader.readAll(), pollMs);
  timer.unref();
  return {
    follow: (operation) => reader.follow(operation),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await subscription[Symbol.asyncDispose]();
      await reader.end();
    },
  };
}

/** Reads the followed operations that may have changed, many in one statement. */
class OperationReader {
  readonly #database: Database;
  readonly #outage: Outage;
  readonly #followers = new Map<string, Set<OperationFollower>>();
  readonly #idsToRead = new Set<string>();
  #isReading = false;

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#outage = new Outage(log, 'operations.unreadable');
  }

  follow(operation: OperationRow): OperationFollower {
    const { id } = operation;
    const followers = this.#followers.get(id) ?? new Set();
    const follower = new OperationFollower(operation, () => {
      followers.delete(follower);
      if (followers.size === 0 && this.#followers.get(id) === followers) this.#followers.delete(id);
    });
    this.#followers.set(id, followers.add(follower));
    // The operation may have changed between its read and the first notification.
    void this.read([id]);
    return follower;
  }

  readAll(): Promise<void> {
    return this.read(this.#followers.keys());
  }

  async read(ids: Iterable<string>): Promise<void> {
    for (const id of ids) if (this.#followers.has(id)) this.#idsToRead.add(id);
    if (this.#isReading) return;
    this.#isReading = true;
    await this.#outage.watch(async () => {
      while (this.#idsToRead.size > 0) await this.#readBatch();
    });
    this.#isReading = false;
  }

  async #readBatch(): Promise<void> {
    const ids = [...this.#idsToRead].slice(0, READ_BATCH);
    for (const id of ids) this.#idsToRead.delete(id);
    const projectId = [...new Set(ids.flatMap((id) => this.#findProjectId(id) ?? []))];
    const rows = await this.#database.reads.find('Operation', { projectId, id: ids });
    const items = new Map(rows.map((row) => [row.id, new ResultStreamItem(row, undefined)]));
    for (const id of ids) {
      for (const follower of this.#followers.get(id) ?? []) follower.offer(items.get(id) ?? null);
    }
  }

  #findProjectId(id: string): string | undefined {
    const [follower] = this.#followers.get(id) ?? [];
    return follower?.projectId;
  }

  async end(): Promise<void> {
    const followers = [...this.#followers.values()].flatMap((siblings) => [...siblings]);
    await Promise.all(followers.map((follower) => follower.return()));
  }
}

const DONE = { done: true, value: undefined } as const;

class OperationFollower implements AsyncIterableIterator<OperationItem> {
  readonly #signal = new Signal();
  readonly #onEnd: () => void;
  readonly projectId: string;
  #currentItem: OperationItem | null;
  #lastYielded: OperationItem | null = null;
  #hasEnded = false;

  constructor(operation: OperationRow, onEnd: () => void) {
    this.#currentItem = new ResultStreamItem(operation, undefined);
    this.projectId = operation.projectId;
    this.#onEnd = onEnd;
  }

  async next(): Promise<IteratorResult<OperationItem>> {
    while (!this.#hasEnded) {
      const currentItem = this.#currentItem;
      if (!currentItem) break;
      if (!this.#lastYielded || !isUnchanged(this.#lastYielded.node, currentItem.node)) {
        this.#lastYielded = currentItem;
        return { done: false, value: currentItem };
      }
      if (currentItem.node.status !== 'IN_PROGRESS') break;
      await this.#signal.wait();
    }
    return this.return();
  }

  async return(): Promise<IteratorResult<OperationItem>> {
    this.#hasEnded = true;
    this.#onEnd();
    this.#signal.raise();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Passes the current operation to the follower. Null if it was deleted. Ignores a row of another project. */
  offer(item: OperationItem | null): void {
    this.#currentItem = item?.node.projectId === this.projectId ? item : null;
    this.#signal.raise();
  }
}

function isUnchanged(a: OperationRow, b: OperationRow): boolean {
  return createFingerprint(a) === createFingerprint(b);
}

function createFingerprint({ status, result, metadata, updateTime }: OperationRow): string {
  return JSON.stringify([status, result, metadata, updateTime]);
}
