/** Collects the requests to providers that belong to one operation. */
import type { RequestRow } from '../../../database/hot/store-requests.ts';
import type { Services } from '../../access/call.ts';
import type { ObservedRequest, RequestObserver } from './observed-outbound.ts';
import { OPERATION_REQUESTS_MAX, type RequestRecorder, toRow } from './request-recorder.ts';

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
 * Collects the requests of work on an operation, which must use `services`, and stores them on disposal. If `operationId`
 * is still null on disposal, failed requests and token requests are recorded for their connection.
 */
export class OperationRequests implements RequestObserver, Disposable {
  readonly services: Services;
  operationId: string | null;
  readonly #recorder: RequestRecorder | null;
  readonly #isContinued: boolean;
  readonly #failed: CollectedRequest[] = [];
  readonly #succeeded: CollectedRequest[] = [];

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
    const requests = observed.isFailed ? this.#failed : this.#succeeded;
    requests.push({ row: toRow(observed), connectionId: observed.connection.id });
    if (requests.length > OPERATION_REQUESTS_MAX) requests.shift();
  }

  [Symbol.dispose](): void {
    const { operationId } = this;
    const failed = this.#failed;
    const succeeded = this.#succeeded;
    if (operationId === null) {
      const requests = [...failed, ...succeeded.filter(({ row }) => row.kind === 'TOKEN')];
      for (const { row, connectionId } of requests) {
        this.#recorder?.storeForConnection(row, connectionId);
      }
      return;
    }
    const remainingCount = OPERATION_REQUESTS_MAX - failed.length;
    const requests = remainingCount > 0 ? [...failed, ...succeeded.slice(-remainingCount)] : failed;
    const rows = requests.map(({ row }) => row);
    this.#recorder?.storeForOperation(rows, { operationId, isContinued: this.#isContinued });
  }
}
