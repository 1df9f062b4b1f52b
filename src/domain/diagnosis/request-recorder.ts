/**
 * Records requests to providers for diagnosis. They are stored in the background: the work that sent a request does not
 * wait until it is stored, and continues if that fails. Requests of one moment share a statement.
 */
import { LRUCache } from 'lru-cache';
import {
  type RequestRow,
  removeSurplusRequests,
  STORE_REQUESTS,
} from '../../database/hot/store-requests.ts';
import type { RowKey } from '../../database/row-keys.ts';
import { isForeignKeyViolation } from '../../database/violations.ts';
import { HOUR_MS } from '../../work/durations.ts';
import { Outage } from '../../work/outage.ts';
import type { Services } from '../call.ts';
import { maskRequest } from './masked-request.ts';
import type { ObservedRequest, RequestObserver } from './observed-outbound.ts';

/** The most requests that are kept for an operation. Failed ones take precedence. */
export const OPERATION_REQUESTS_MAX = 20;
/**
 * The most requests without an operation that a process records in an hour for each connection. The limit bounds the
 * number of rows that are deleted with a connection.
 */
export const CONNECTION_REQUESTS_MAX = 100;
/** The most connections whose requests a process counts. */
const COUNTED_CONNECTIONS_MAX = 10_000;
/** The most requests that wait to be stored. Others are lost. */
const WAITING_MAX = 2_000;
/** The time that requests wait for others, so that many operations share a statement. */
const COLLECT_MS = 200;

/** Records requests that belong to no operation: token requests, and other requests that fail. */
export class RequestRecorder implements RequestObserver, AsyncDisposable {
  readonly #database: Services['database'];
  readonly #outage: Outage;
  readonly #counts = new LRUCache<string, number>({ max: COUNTED_CONNECTIONS_MAX, ttl: HOUR_MS });
  #waiting: RequestRow[] = [];
  /** Keys of operations that may have more than OPERATION_REQUESTS_MAX stored requests, by id. */
  #operationsToTrim = new Map<string, RowKey>();
  #timer: NodeJS.Timeout | undefined;
  #storing: Promise<void> = Promise.resolve();

  constructor({ database, log }: Pick<Services, 'database' | 'log'>) {
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

  /** With `isContinued`, earlier requests of the operation count too, and those above the limit are removed. */
  storeForOperation(
    rows: readonly RequestRow[],
    { operationId, isContinued }: { operationId: string; isContinued: boolean },
  ): void {
    const [first] = rows;
    if (!first) return;
    const { projectId } = first;
    this.#collect(rows.map((row) => ({ ...row, operationId })));
    if (isContinued) this.#operationsToTrim.set(operationId, { projectId, id: operationId });
  }

  #collect(rows: readonly RequestRow[]): void {
    if (this.#waiting.length + rows.length > WAITING_MAX) return;
    this.#waiting.push(...rows);
    this.#timer ??= setTimeout(() => void this.flush(), COLLECT_MS).unref();
  }

  /** Stores the waiting requests. Resolves when they are stored, or when that has failed. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#storing = this.#storing.then(() => this.#storeWaiting());
    return this.#storing;
  }

  async #storeWaiting(): Promise<void> {
    const rows = this.#waiting;
    const operationKeys = [...this.#operationsToTrim.values()];
    this.#waiting = [];
    this.#operationsToTrim = new Map();
    await this.#outage.watch(async () => {
      await Promise.all(rows.map((row) => this.#storeRow(row)));
      const { query } = this.#database.rows;
      for (const key of operationKeys) {
        await removeSurplusRequests(query, key, OPERATION_REQUESTS_MAX);
      }
    });
  }

  async #storeRow(row: RequestRow): Promise<void> {
    try {
      await this.#database.changes.run(STORE_REQUESTS, row);
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
function toRow(observed: ObservedRequest): RequestRow {
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

interface OperationWork {
  /** Null if the operation is created at the end of the work. */
  operationId: string | null;
  /** True if earlier work of the operation has recorded requests. */
  isContinued?: boolean;
}

interface CollectedRequest {
  row: RequestRow;
  connectionId: string;
}

/**
 * Collects the requests of work on an operation, and stores them when it is disposed of. Use `services` for the work.
 * If `operationId` is still null then, failed requests are recorded for their connection.
 */
export class OperationRequests implements RequestObserver, Disposable {
  readonly services: Services;
  operationId: string | null;
  readonly #recorder: RequestRecorder | null;
  readonly #isContinued: boolean;
  readonly #observed = {
    failed: [] as CollectedRequest[],
    succeeded: [] as CollectedRequest[],
  };

  constructor(services: Services, { operationId, isContinued = false }: OperationWork) {
    const { requestRecorder, providerAccess } = services;
    this.#recorder = requestRecorder;
    this.operationId = operationId;
    this.#isContinued = isContinued;
    this.services = requestRecorder
      ? { ...services, providerAccess: { ...providerAccess, observer: this } }
      : services;
  }

  observe(observed: ObservedRequest): void {
    const list = observed.isFailed ? this.#observed.failed : this.#observed.succeeded;
    list.push({ row: toRow(observed), connectionId: observed.connection.id });
    if (list.length > OPERATION_REQUESTS_MAX) list.shift();
  }

  [Symbol.dispose](): void {
    const { operationId } = this;
    const { failed, succeeded } = this.#observed;
    if (operationId === null) {
      const requests = [...failed, ...succeeded.filter(({ row }) => row.kind === 'TOKEN')];
      for (const { row, connectionId } of requests) {
        this.#recorder?.storeForConnection(row, connectionId);
      }
      return;
    }
    const remainingCount = OPERATION_REQUESTS_MAX - failed.length;
    const recorded = remainingCount > 0 ? [...failed, ...succeeded.slice(-remainingCount)] : failed;
    const rows = recorded.map(({ row }) => row);
    this.#recorder?.storeForOperation(rows, { operationId, isContinued: this.#isContinued });
  }
}
