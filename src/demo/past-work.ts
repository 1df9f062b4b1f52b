/** Creates the rows of an installation's past reads and writes, as if the gateway had run since the installation. */
import type { z } from 'zod';
import type { Tables } from '../database/tables.ts';
import type { StoredOperationMetadata } from '../domain/operation/operation.ts';
import type { recordsMessage } from '../domain/operation/read/read-message.ts';
import { newIdAt } from '../ids.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../work/durations.ts';

/** The interval of the schedules in `content.ts`. */
const READ_INTERVAL_MS = 10 * MINUTE_MS;
/** The time from the due time of a read to its start. */
const READ_DELAY_MS = 400;
/** The time between the reads of two installations, so that their times differ. */
const READ_SHIFT_MS = 150;
const READ_MS = 40;

/** The time from the start of an hour to its write. */
const WRITE_DELAY_MS = 14 * MINUTE_MS;
const WRITE_SHIFT_MS = MINUTE_MS;
const WRITE_MS = 25;
/** A synchronous write repeats its request for some seconds while the provider is unavailable. */
const FAILED_WRITE_MS = 12 * SECOND_MS;
/** The times from the start of a failed write to its requests. */
const FAILED_REQUEST_DELAYS_MS = [4, 3 * SECOND_MS, 11 * SECOND_MS];
const REQUEST_DELAY_MS = 4;
const REQUEST_MS = 14;
/** The objects that are written, by the object that the same installation reads. */
const WRITE_OBJECTS: Readonly<Record<string, string>> = { contacts: 'deals', people: 'people' };
const UNAVAILABLE =
  '{\n "error": {\n  "code": "unavailable",\n  "message": "Try again later."\n }\n}';

/** The age of the last failed write. It is never about a day, where figures of a day end. */
const FAILURE_AGE_HOURS = 5;
const FAILURE_SHIFT_HOURS = 4;
const FAILURE_INTERVAL_HOURS = 12;

const ATTEMPT_DELAY_MS = 3;
const ATTEMPT_MIN_MS = 6;
/** The number of different durations of attempts. */
const ATTEMPT_VARIANTS = 23;

/** A time in the JSON text of records. */
const TIME = /"\d{4}-\d\d-\d\dT[\d:.]+Z"/g;

type Delivery = Tables['Delivery'];
type Operation = Tables['Operation'];
type Message = z.output<typeof recordsMessage>;

export interface PastInstallation {
  parents: Pick<
    Operation,
    'projectId' | 'installationId' | 'integrationId' | 'configId' | 'groupId' | 'consumerId'
  >;
  /** The object that the installation reads. */
  objectName: string;
  firstReadTime: Date;
  /** The delivery of the first read. Undefined if the account had no records. */
  firstDelivery: Delivery | undefined;
  /** The position of the installation among those of the demo. */
  index: number;
  /** The host of the provider. */
  host: string;
}

export interface PastRead {
  operation: Operation;
  recordCount: number;
  /** Undefined if the read returned no records. */
  delivery: Delivery | undefined;
}

/** Returns the time of the first scheduled read after `time`. */
export function getNextReadTime(time: Date): Date {
  return new Date(getNextMultiple(time, READ_INTERVAL_MS));
}

/** Creates the scheduled reads that ended before `now`, oldest first. */
export function createReads(installation: PastInstallation, now: Date): PastRead[] {
  const { firstReadTime, firstDelivery, index } = installation;
  const firstMessage: Message | null = firstDelivery ? JSON.parse(firstDelivery.body) : null;
  const reads: PastRead[] = [];
  const firstDueMs = getNextReadTime(firstReadTime).getTime();
  let timeMs = firstDueMs + READ_DELAY_MS + index * READ_SHIFT_MS;
  for (; timeMs + READ_MS < now.getTime(); timeMs += READ_INTERVAL_MS) {
    const records = firstMessage ? pickChangedRecords(firstMessage, reads.length) : [];
    const operation = createRead(installation, timeMs, records.length);
    const delivery =
      firstDelivery && firstMessage && records.length > 0
        ? createDelivery(firstDelivery, { ...firstMessage, result: records }, operation)
        : undefined;
    reads.push({ operation, recordCount: records.length, delivery });
  }
  return reads;
}

/** Returns up to three records for every fourth read, and none for the other reads. */
function pickChangedRecords({ result }: Message, readNumber: number): Message['result'] {
  const count = readNumber % 4 === 0 ? 1 + (readNumber % 3) : 0;
  const start = readNumber % result.length;
  return result.slice(start, start + count);
}

function createRead(
  installation: PastInstallation,
  timeMs: number,
  recordCount: number,
): Operation {
  const { objectName } = installation;
  const noun = recordCount === 1 ? 'record' : 'records';
  const outcome =
    recordCount === 0 ? 'No new data found' : `Read completed (${recordCount} ${noun})`;
  return createOperation(installation, {
    actionType: 'READ',
    status: 'SUCCESS',
    result: `[${objectName}] ${outcome}`,
    metadata: { objects: [objectName], progress: { objectName, recordsProcessed: recordCount } },
    timeMs,
    durationMs: READ_MS,
  });
}

function createDelivery(
  firstDelivery: Delivery,
  message: Message,
  { id: operationId, createTime: readTime }: Operation,
): Delivery {
  const timeMs = readTime.getTime() + READ_MS;
  const body = {
    ...message,
    operationId,
    readType: 'scheduled',
    resultInfo: { ...message.resultInfo, numRecords: message.result.length },
  };
  const delivery = {
    ...firstDelivery,
    id: newIdAt('dlv', timeMs),
    operationId,
    body: JSON.stringify(body),
    createTime: new Date(timeMs),
  };
  return endDelivery(setMessageTimes(delivery, { operationTime: readTime }));
}

/** Sets the times in a delivered message. Its records changed shortly before the read. */
export function setMessageTimes(
  delivery: Delivery,
  { operationTime, ...times }: { operationTime: Date; installationUpdateTime?: Date },
): Delivery {
  const { result, ...head } = JSON.parse(delivery.body);
  const changeTime = new Date(operationTime.getTime() - MINUTE_MS);
  const records = JSON.stringify(result).replaceAll(TIME, JSON.stringify(changeTime));
  const body = { ...head, operationTime, ...times, result: JSON.parse(records) };
  return { ...delivery, body: JSON.stringify(body) };
}

/** Ends a delivery, whose only attempt was successful. */
export function endDelivery(delivery: Delivery): Delivery {
  const endMs = delivery.createTime.getTime() + ATTEMPT_DELAY_MS + getAttemptMs(delivery);
  return {
    ...delivery,
    status: 'SUCCEEDED',
    attemptCount: 1,
    nextAttemptTime: null,
    updateTime: new Date(endMs),
  };
}

/** Returns the duration of a delivery's attempt, which depends only on its start. */
function getAttemptMs({ createTime }: Delivery): number {
  return ATTEMPT_MIN_MS + (createTime.getTime() % ATTEMPT_VARIANTS);
}

/** Creates the attempt of an ended delivery. */
export function createAttempt(delivery: Delivery): Tables['DeliveryAttempt'] {
  const { id: deliveryId, projectId, createTime } = delivery;
  const startMs = createTime.getTime() + ATTEMPT_DELAY_MS;
  return {
    id: newIdAt('att', startMs),
    projectId,
    deliveryId,
    attemptNumber: 1,
    responseStatus: 204,
    responseBody: null,
    error: null,
    durationMs: getAttemptMs(delivery),
    createTime: new Date(startMs),
  };
}

/** Creates the hourly writes that ended before `now`, oldest first. */
export function createWrites(installation: PastInstallation, now: Date): Operation[] {
  const { firstReadTime, index } = installation;
  const failureAgeHours = FAILURE_AGE_HOURS + index * FAILURE_SHIFT_HOURS;
  const writes: Operation[] = [];
  let timeMs = getNextMultiple(firstReadTime, HOUR_MS) + WRITE_DELAY_MS + index * WRITE_SHIFT_MS;
  for (; timeMs + FAILED_WRITE_MS < now.getTime(); timeMs += HOUR_MS) {
    const ageHours = Math.floor((now.getTime() - timeMs) / HOUR_MS);
    const hasFailed = (ageHours - failureAgeHours) % FAILURE_INTERVAL_HOURS === 0;
    writes.push(createWrite(installation, { timeMs, recordId: `${writes.length + 1}`, hasFailed }));
  }
  return writes;
}

function createWrite(
  installation: PastInstallation,
  { timeMs, recordId, hasFailed }: { timeMs: number; recordId: string; hasFailed: boolean },
): Operation {
  const objectName = getWriteObject(installation.objectName);
  const outcome = hasFailed
    ? 'Error writing to provider: The provider returned 503.'
    : `Record ${recordId} created`;
  return createOperation(installation, {
    actionType: 'WRITE',
    status: hasFailed ? 'FAILURE' : 'SUCCESS',
    result: `[${objectName}] ${outcome}`,
    metadata: { objects: [objectName], successfulRecordIds: hasFailed ? [] : [recordId] },
    timeMs,
    durationMs: hasFailed ? FAILED_WRITE_MS : WRITE_MS,
  });
}

function getWriteObject(objectName: string): string {
  return WRITE_OBJECTS[objectName] ?? objectName;
}

interface OperationInput extends Pick<Operation, 'actionType' | 'status' | 'result'> {
  metadata: StoredOperationMetadata;
  timeMs: number;
  durationMs: number;
}

function createOperation(
  { parents }: PastInstallation,
  { metadata, timeMs, durationMs, ...outcome }: OperationInput,
): Operation {
  return {
    id: newIdAt('opr', timeMs),
    ...parents,
    ...outcome,
    metadata: { ...metadata },
    createTime: new Date(timeMs),
    updateTime: new Date(timeMs + durationMs),
  };
}

/** Creates the last line of an operation's log. */
export function createLogLine({
  id: operationId,
  projectId,
  status,
  result,
  createTime,
  updateTime,
}: Operation): Tables['OperationLog'] {
  const timestamp = updateTime ?? createTime;
  return {
    id: newIdAt('log', timestamp.getTime()),
    projectId,
    operationId,
    timestamp,
    severity: status === 'FAILURE' ? 'ERROR' : 'INFO',
    message: result ?? '',
    details: null,
  };
}

/** Creates the requests of an operation. Only those of a failed write have a response body. */
export function createRequests(
  { host, objectName }: PastInstallation,
  { id: operationId, projectId, actionType, status, createTime }: Operation,
): Tables['RecordedRequest'][] {
  const isWrite = actionType === 'WRITE';
  const isFailed = status === 'FAILURE';
  const delays = isFailed ? FAILED_REQUEST_DELAYS_MS : [REQUEST_DELAY_MS];
  return delays.map((delayMs) => {
    const timeMs = createTime.getTime() + delayMs;
    return {
      id: newIdAt('req', timeMs),
      projectId,
      operationId,
      connectionId: null,
      kind: 'API',
      method: isWrite ? 'POST' : 'GET',
      host,
      path: getRecordsPath(isWrite ? getWriteObject(objectName) : objectName),
      responseStatus: isFailed ? 503 : isWrite ? 201 : 200,
      error: null,
      isFailed,
      durationMs: REQUEST_MS,
      requestHeaders: { accept: 'application/json', authorization: '***' },
      responseHeaders: {
        'content-type': 'application/json',
        ...(isFailed && { 'retry-after': '30' }),
      },
      responseBody: isFailed ? UNAVAILABLE : null,
      createTime: new Date(timeMs),
    };
  });
}

/** Returns the path of an object's records: people are in the help desk, and other objects in the CRM. */
function getRecordsPath(objectName: string): string {
  return objectName === 'people' ? '/desk/people' : `/objects/${objectName}/records`;
}

/** Returns the first multiple of `intervalMs` after `time`. */
function getNextMultiple(time: Date, intervalMs: number): number {
  return time.getTime() - (time.getTime() % intervalMs) + intervalMs;
}
