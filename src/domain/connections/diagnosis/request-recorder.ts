/**
 * Records requests to providers for diagnosis. They are stored in the background, several at a time. The work that sent a
 * request neither waits for the row nor fails with it.
 */
import { LRUCache } from 'lru-cache';
import { isForeignKeyViolation } from '../../../database/connect/violations.ts';
import type { Database } from '../../../database/open/database.ts';
import {
  type RequestRow,
  removeSurplusRequests,
  STORE_REQUESTS,
} from '../../../database/statements/hot/store-requests.ts';
import type { RowKey } from '../../../database/statements/row-keys.ts';
import type { Log } from '../../../kernel/log.ts';
import { HOUR_MS } from '../../../work/durations.ts';
import { growUpTo } from '../../../work/growing-cache.ts';
import { Outage } from '../../../work/outage.ts';
import { maskRequest } from './masked-request.ts';
import type { ObservedRequest, RequestObserver } from './observed-outbound.ts';

/** The maximum number of requests that are kept for an operation. Failed requests take precedence. */
export const OPERATION_REQUESTS_MAX = 20;
/**
 * The maximum number of requests without an operation that a process records in an hour for each connection. It bounds the
 * number of rows that are deleted with a connection.
 */
const CONNECTION_REQUESTS_MAX = 100;
/** The maximum number of connections whose requests a process counts. */
const COUNTED_CONNECTIONS_MAX = 10_000;
/** The maximum number of requests that wait to be stored. Further requests are lost. */
const WAITING_MAX = 2_000;
/** How long a request waits for others, so that the requests of many operations are stored together. */
const COLLECT_MS = 200;

/** Stores recorded requests. As an observer, it records requests outside of operations: token requests and failures. */
export class RequestRecorder implements RequestObserver, AsyncDisposable {
  readonly #database: Database;
  readonly #outage: Outage;
  readonly #counts = new LRUCache<string, number>({
    ...growUpTo(COUNTED_CONNECTIONS_MAX),
    ttl: HOUR_MS,
  });
  #waitingRows: RequestRow[] = [];
  /** Keys of operations that may have more than OPERATION_REQUESTS_MAX stored requests, by id. */
  #operationsToTrim = new Map<string, RowKey>();
  #timer: NodeJS.Timeout | undefined;
  #storing: Promise<void> = Promise.resolve();

  constructor({ database, log }: { database: Database; log: Log }) {
    this.#database = database;
    this.#outage = new Outage(log, 'recorded_requests.not_stored');
  }

  observe(observed: ObservedRequest): void {
    if (observed.kind !== 'TOKEN' && !observed.isFailed) return;
    this.storeForConnection(toRow(observed), observed.connection.id);
  }

  /** Drops the request if the connection already has CONNECTION_REQUESTS_MAX in this hour. */
  storeForConnection(row: RequestRow, connectionId: string): void {
    const count = (this.#counts.get(connectionId) ?? 0) + 1;
    if (count > CONNECTION_REQUESTS_MAX) return;
    // The hour begins with the first request.
    this.#counts.set(connectionId, count, { noUpdateTTL: true });
    this.#collect([{ ...row, connectionId }]);
  }

  /** With `isContinued`, requests of earlier work count towards the limit, and stored requests above it are removed. */
  storeForOperation(
    rows: readonly RequestRow[],
    { operationId, isContinued }: { operationId: string; isContinued: boolean },
  ): void {
    const [firstRow] = rows;
    if (!firstRow) return;
    const { projectId } = firstRow;
    this.#collect(rows.map((row) => ({ ...row, operationId })));
    if (isContinued) this.#operationsToTrim.set(operationId, { projectId, id: operationId });
  }

  #collect(rows: readonly RequestRow[]): void {
    if (this.#waitingRows.length + rows.length > WAITING_MAX) return;
    this.#waitingRows.push(...rows);
    this.#timer ??= setTimeout(() => void this.flush(), COLLECT_MS).unref();
  }

  /** Stores the waiting requests. Resolves when they are stored or could not be stored. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#storing = this.#storing.then(() => this.#storeWaiting());
    return this.#storing;
  }

  async #storeWaiting(): Promise<void> {
    const rows = this.#waitingRows;
    const operationKeys = [...this.#operationsToTrim.values()];
    this.#waitingRows = [];
    this.#operationsToTrim = new Map();
    await this.#outage.watch(async () => {
      await Promise.all(rows.map((row) => this.#storeRow(row)));
      const { run } = this.#database;
      for (const key of operationKeys) {
        await removeSurplusRequests(run, key, OPERATION_REQUESTS_MAX);
      }
    });
  }

  async #storeRow(row: RequestRow): Promise<void> {
    try {
      await this.#database.runShared(STORE_REQUESTS, row);
    } catch (error) {
      // The operation or connection was deleted, so its requests are not needed.
      if (!isForeignKeyViolation(error)) throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush();
  }
}

/** Returns a row without an operation or a connection. The owner is set when the row is stored. */
export function toRow(observed: ObservedRequest): RequestRow {
  const { id, kind, connection, response, isFailed, durationMs, createTime } = observed;
  return {
    id,
    projectId: connection.projectId,
    operationId: null,
    connectionId: null,
    kind,
    responseStatus: response?.status ?? null,
    isFailed,
    durationMs,
    createTime,
    ...maskRequest(observed),
  };
}
