/** Collects the requests to providers that belong to one operation. */
import type { RequestRow } from '../../../database/statements/hot/store-requests.ts';
import type { ProviderServices } from '../../access/call.ts';
import type { ObservedRequest, RequestObserver } from './observed-outbound.ts';
import { OPERATION_REQUESTS_MAX, type RequestRecorder, toRow } from './request-recorder.ts';

interface CollectedRequest {
  row: RequestRow;
  connectionId: string;
}

interface OperationWork {
  /** Null if the operation is created at the end of the work. */
  operationId: string | null;
  /** True if earlier work of the operation has recorded requests. */
  isContinued?: boolean;
}

/**
 * Collects the requests of work on an operation, which must use `services`, and stores them on disposal. If `operationId`
 * is still null on disposal, failed requests and token requests are recorded for their connection.
 */
export class OperationRequests implements RequestObserver, Disposable {
  readonly services: ProviderServices;
  operationId: string | null;
  readonly #recorder: RequestRecorder | null;
  readonly #isContinued: boolean;
  /** Masked immediately, so that the masks of several long bodies don't delay other work. */
  readonly #failed: CollectedRequest[] = [];
  /** Masked only if they are stored, because a read sends thousands. */
  readonly #succeeded: ObservedRequest[] = [];

  constructor(services: ProviderServices, { operationId, isContinued = false }: OperationWork) {
    const { requestRecorder, providerAccess } = services;
    this.#recorder = requestRecorder;
    this.operationId = operationId;
    this.#isContinued = isContinued;
    this.services = requestRecorder
      ? { ...services, providerAccess: { ...providerAccess, observer: this } }
      : services;
  }

  observe(observed: ObservedRequest): void {
    if (observed.isFailed) pushRecent(this.#failed, collect(observed));
    else pushRecent(this.#succeeded, observed);
  }

  [Symbol.dispose](): void {
    const { operationId } = this;
    const failed = this.#failed;
    const succeeded = this.#succeeded;
    if (operationId === null) {
      const tokenRequests = succeeded.filter(({ kind }) => kind === 'TOKEN').map(collect);
      for (const { row, connectionId } of [...failed, ...tokenRequests]) {
        this.#recorder?.storeForConnection(row, connectionId);
      }
      return;
    }
    const remainingCount = OPERATION_REQUESTS_MAX - failed.length;
    const storedSuccesses = remainingCount > 0 ? succeeded.slice(-remainingCount) : [];
    const rows = [...failed, ...storedSuccesses.map(collect)].map(({ row }) => row);
    this.#recorder?.storeForOperation(rows, { operationId, isContinued: this.#isContinued });
  }
}

function collect(observed: ObservedRequest): CollectedRequest {
  return { row: toRow(observed), connectionId: observed.connection.id };
}

function pushRecent<T>(requests: T[], request: T): void {
  requests.push(request);
  if (requests.length > OPERATION_REQUESTS_MAX) requests.shift();
}
