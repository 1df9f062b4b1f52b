/**
 * Creates the rows of an installation's past reads and writes, as if the gateway had run since the installation. Each row
 * is a copy of a row of the first read, with another time and outcome.
 */
import type { z } from 'zod';
import type { Tables } from '../database/tables.ts';
import type { StoredOperationMetadata } from '../domain/operation/operation.ts';
import type { recordsMessage } from '../domain/operation/read/read-message.ts';
import { newIdAt } from '../ids.ts';
import { MINUTE_MS, SECOND_MS } from '../work/durations.ts';

/** The interval of the schedules in `content.ts`. */
const READ_INTERVAL_MS = 10 * MINUTE_MS;
const READS_PER_WRITE = 6;
const WRITES_PER_FAILURE = 12;
/** The time between the reads of two installations, so that no two operations start at the same time. */
const INSTALLATION_INTERVAL_MS = 400;
const READ_MS = 40;
/** A synchronous write repeats its request for some seconds while the provider is unavailable. */
const FAILED_WRITE_MS = 12 * SECOND_MS;
const UNAVAILABLE_BODY =
  '{\n "error": {\n  "code": "unavailable",\n  "message": "Try again later."\n }\n}';

/** Matches a time in the JSON of records. */
const JSON_TIME = /"\d{4}-\d\d-\d\dT[\d:.]+Z"/g;

type Delivery = Tables['Delivery'];
type RecordedRequest = Tables['RecordedRequest'];
type Operation = Tables['Operation'] & { updateTime: Date };
type Message = z.output<typeof recordsMessage>;

/** The rows of an installation's first read, which its other reads and its writes copy. */
export interface FirstRead {
  operation: Tables['Operation'];
  objectName: string;
  /** Null if the server does not record requests. */
  request: RecordedRequest | null;
  /** Undefined if the account had no records. */
  delivery: Delivery | undefined;
}

/** An operation with its requests and, if it read records, the delivery of the records. */
export interface PastWork {
  operation: Operation;
  requests: RecordedRequest[];
  delivery?: Delivery;
}

/** Returns the time of the first scheduled read after `time`. */
export function getNextReadTime(time: Date): Date {
  const timeMs = time.getTime();
  return new Date(timeMs - (timeMs % READ_INTERVAL_MS) + READ_INTERVAL_MS);
}

/** Creates the scheduled reads and hourly writes that ended before `now`. `index` numbers the demo's installations. */
export function createPastWork(firstRead: FirstRead, index: number, now: Date): PastWork[] {
  const pastWork: PastWork[] = [];
  const firstDueMs = getNextReadTime(firstRead.operation.createTime).getTime();
  let startMs = firstDueMs + (index + 1) * INSTALLATION_INTERVAL_MS;
  for (let readNumber = 0; startMs < now.getTime(); readNumber += 1, startMs += READ_INTERVAL_MS) {
    pastWork.push(createRead(firstRead, startMs, readNumber));
    if (readNumber % READS_PER_WRITE !== 0) continue;
    const writeNumber = readNumber / READS_PER_WRITE;
    // No failure is near 24 hours old, where it would drop out of the daily figures while the demo is shown.
    const hasFailed = (writeNumber - index) % WRITES_PER_FAILURE === WRITES_PER_FAILURE / 2;
    pastWork.push(createWrite(firstRead, startMs + READ_INTERVAL_MS / 2, writeNumber, hasFailed));
  }
  return pastWork.filter(({ operation }) => operation.updateTime < now);
}

function createRead(firstRead: FirstRead, startMs: number, readNumber: number): PastWork {
  const { objectName, request, delivery: firstDelivery } = firstRead;
  const records = firstDelivery ? pickChangedRecords(firstDelivery, readNumber) : [];
  const outcome =
    records.length === 0
      ? 'No new data found'
      : `Read completed (${records.length} ${records.length === 1 ? 'record' : 'records'})`;
  const operation = createOperation(firstRead, startMs, READ_MS, {
    status: 'SUCCESS',
    result: `[${objectName}] ${outcome}`,
    metadata: { objects: [objectName], progress: { objectName, recordsProcessed: records.length } },
  });
  const requests = request ? [createRequest(request, operation, startMs)] : [];
  if (!firstDelivery || records.length === 0) return { operation, requests };
  const createTime = operation.updateTime;
  const message = { ...JSON.parse(firstDelivery.body), readType: 'scheduled', result: records };
  const delivery = {
    ...firstDelivery,
    id: newIdAt('dlv', createTime.getTime()),
    operationId: operation.id,
    body: formatMessage(message, operation),
    createTime,
  };
  return { operation, requests, delivery };
}

/** Returns one to three records for every fourth read, and none for the other reads. */
function pickChangedRecords({ body }: Delivery, readNumber: number): Message['result'] {
  if (readNumber % 4 !== 0) return [];
  const { result }: Message = JSON.parse(body);
  const start = readNumber % result.length;
  return result.slice(start, start + 1 + (readNumber % 3));
}

/** Formats the message of a read, as if its records had changed a minute before the read. */
export function formatMessage(
  message: Pick<Message, 'result'>,
  { id: operationId, createTime }: Tables['Operation'],
): string {
  const changeTime = new Date(createTime.getTime() - MINUTE_MS);
  const records = JSON.stringify(message.result).replaceAll(JSON_TIME, JSON.stringify(changeTime));
  return JSON.stringify({
    ...message,
    operationId,
    operationTime: createTime,
    resultInfo: { type: 'inline', numRecords: message.result.length },
    result: JSON.parse(records),
  });
}

function createWrite(
  firstRead: FirstRead,
  startMs: number,
  writeNumber: number,
  hasFailed: boolean,
): PastWork {
  const { objectName, request } = firstRead;
  // Higher than the ids of the sandbox's sample records.
  const recordId = String(101 + writeNumber);
  const outcome = hasFailed
    ? 'Error writing to provider: The provider returned 503.'
    : `Record ${recordId} created`;
  const operation = createOperation(firstRead, startMs, hasFailed ? FAILED_WRITE_MS : READ_MS, {
    actionType: 'WRITE',
    status: hasFailed ? 'FAILURE' : 'SUCCESS',
    result: `[${objectName}] ${outcome}`,
    metadata: { objects: [objectName], successfulRecordIds: hasFailed ? [] : [recordId] },
  });
  if (!request) return { operation, requests: [] };
  const writeRequest = {
    ...request,
    method: 'POST',
    path: request.path.replace(/\?.*/, ''),
    responseStatus: hasFailed ? 503 : 201,
    isFailed: hasFailed,
    responseBody: hasFailed ? UNAVAILABLE_BODY : null,
  };
  const requestDelaysMs = hasFailed ? [0, 3 * SECOND_MS, 11 * SECOND_MS] : [0];
  const requests = requestDelaysMs.map((delayMs) =>
    createRequest(writeRequest, operation, startMs + delayMs),
  );
  return { operation, requests };
}

function createOperation(
  { operation }: FirstRead,
  startMs: number,
  durationMs: number,
  outcome: Partial<Operation> & { metadata: StoredOperationMetadata },
): Operation {
  return {
    ...operation,
    ...outcome,
    id: newIdAt('opr', startMs),
    createTime: new Date(startMs),
    updateTime: new Date(startMs + durationMs),
  };
}

function createRequest(
  request: RecordedRequest,
  { id: operationId }: Operation,
  startMs: number,
): RecordedRequest {
  const id = newIdAt('req', startMs);
  return { ...request, id, operationId, durationMs: 14, createTime: new Date(startMs) };
}

/** Creates the last line of an operation's log. */
export function createLogLine(operation: Operation): Tables['OperationLog'] {
  const { id: operationId, projectId, status, result, updateTime } = operation;
  return {
    id: newIdAt('log', updateTime.getTime()),
    projectId,
    operationId,
    timestamp: updateTime,
    severity: status === 'FAILURE' ? 'ERROR' : 'INFO',
    message: result ?? '',
    details: null,
  };
}

/** Marks a delivery as delivered by its first attempt, and returns it with the attempt. */
export function completeDelivery(delivery: Delivery): {
  delivery: Delivery;
  attempt: Tables['DeliveryAttempt'];
} {
  const { id: deliveryId, projectId, createTime } = delivery;
  // Durations differ, so that their percentiles do too.
  const durationMs = 6 + (createTime.getTime() % 23);
  const updateTime = new Date(createTime.getTime() + durationMs);
  return {
    delivery: {
      ...delivery,
      status: 'SUCCEEDED',
      attemptCount: 1,
      nextAttemptTime: null,
      updateTime,
    },
    attempt: {
      id: newIdAt('att', createTime.getTime()),
      projectId,
      deliveryId,
      attemptNumber: 1,
      responseStatus: 204,
      responseBody: null,
      error: null,
      durationMs,
      createTime,
    },
  };
}
