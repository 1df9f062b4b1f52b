/**
 * Gives a new demo two days of history: the rows of the setup move to the past, and each installation gets scheduled
 * reads, hourly writes and deliveries since then. Each row of a past read or write is a copy of a row of the first read,
 * with another time and outcome.
 */
import type { z } from 'zod';
import {
  insertRows,
  moveRowsToIdTimes,
  recountActivity,
} from '../database/statements/past-rows.ts';
import type { Tables } from '../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../database/transactions/transaction.ts';
import type { Services } from '../domain/access/call.ts';
import {
  parseOperationMetadata,
  type StoredOperationMetadata,
} from '../domain/data/operation/operation.ts';
import type { recordsMessage } from '../domain/data/operation/read/read-message.ts';
import { getIdTimeMs, newIdAt, withAgedIds } from '../kernel/ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../work/durations.ts';

/** Runs a change of the demo's setup at the time that the rows it creates get. */
export type RunAtTime = <T>(change: () => Promise<T>) => Promise<T>;

/** The age of the first change. All changes take less than three hours, so each installation is two days old. */
const SETUP_AGE_MS = 2 * DAY_MS + 3 * HOUR_MS;
const CHANGE_INTERVAL_MS = 3 * MINUTE_MS;
/** The limit of the transaction, which takes a second, and much longer on a busy machine. */
const TRANSACTION_TIMEOUT_MS = 2 * MINUTE_MS;

/** Returns the runner of a new demo's changes. Each change is in the past, some minutes after the previous change. */
export function createPastClock({ now }: Pick<Services, 'now'>): RunAtTime {
  let timeMs = now().getTime() - SETUP_AGE_MS;
  return (change) => {
    timeMs += CHANGE_INTERVAL_MS;
    return withAgedIds(now().getTime() - timeMs, change);
  };
}

/** Runs the changes of a demo that has its history. */
export const PRESENT_CLOCK: RunAtTime = (change) => change();

/** True if the rows of the demo have not been moved to the times of their ids. */
export function isWithoutHistory({ id, createTime }: { id: string; createTime: string }): boolean {
  return Date.parse(createTime) - getIdTimeMs(id) > HOUR_MS;
}

/** Adds the history in one transaction, so that an interrupted start adds nothing. */
export async function addHistory(
  { database, now, requestRecorder }: Services,
  project: Pick<Tables['Project'], 'id' | 'orgId'>,
): Promise<void> {
  // The requests of the first reads are stored in the background.
  await requestRecorder?.flush();
  const addRows = async (tx: Transaction) => {
    await moveRowsToIdTimes(tx, project);
    const where = { projectId: project.id };
    const deliveries = await tx.delivery.findMany({ where });
    await tx.delivery.deleteMany({ where });
    await insertDeliveries(
      tx,
      deliveries.filter(({ eventId }) => eventId),
    );
    const objects = await tx.installedObject.findMany({
      where: { ...where, backfillDone: true },
      include: { installation: true },
    });
    for (const [index, object] of objects.entries()) {
      const firstRead = await getFirstRead(tx, object, deliveries);
      await addPastWork(tx, firstRead, createPastWork(firstRead, index, now()), now());
    }
    await recountActivity(tx, project.id);
  };
  await inTransaction(database, addRows, { timeout: TRANSACTION_TIMEOUT_MS });
}

async function getFirstRead(
  tx: Transaction,
  object: Tables['InstalledObject'] & { installation: Tables['Installation'] },
  deliveries: readonly Tables['Delivery'][],
): Promise<FirstRead> {
  const { projectId, objectName, installation } = object;
  const operation = await tx.operation.findUniqueOrThrow({
    where: { projectId_id: { projectId, id: object.backfillOperationId! } },
  });
  const operationId = operation.id;
  const request = await tx.recordedRequest.findFirst({ where: { projectId, operationId } });
  const delivery = deliveries.find((row) => !row.eventId && row.operationId === operationId);
  if (!delivery) return { operation, objectName, request, delivery };
  const message = { ...JSON.parse(delivery.body), installationUpdateTime: installation.createTime };
  const body = formatMessage(message, operation);
  return { operation, objectName, request, delivery: { ...delivery, body } };
}

/** Inserts the work and the delivery of the first read, and updates the progress of the installed object. */
async function addPastWork(
  tx: Transaction,
  { operation: firstOperation, objectName, delivery: firstDelivery }: FirstRead,
  pastWork: readonly PastWork[],
  now: Date,
): Promise<void> {
  const operations = pastWork.map(({ operation }) => operation);
  await insertRows(tx, 'Operation', operations);
  await insertRows(tx, 'OperationLog', operations.map(createLogLine));
  await insertRows(
    tx,
    'RecordedRequest',
    pastWork.flatMap(({ requests }) => requests),
  );
  const deliveries = [firstDelivery, ...pastWork.map(({ delivery }) => delivery)];
  await insertDeliveries(
    tx,
    deliveries.filter((delivery) => delivery !== undefined),
  );
  const { projectId, installationId } = firstOperation;
  const reads = operations.filter(({ actionType }) => actionType === 'READ');
  const lastReadTime = reads.at(-1)!.createTime;
  const recordsRead = reads.reduce(
    (sum, read) => sum + (parseOperationMetadata(read).progress?.recordsProcessed ?? 0),
    0,
  );
  await tx.installedObject.update({
    where: { projectId_installationId_objectName: { projectId, installationId, objectName } },
    data: {
      recordsRead: { increment: recordsRead },
      lastReadTime,
      readUntil: now,
      nextReadTime: getNextReadTime(lastReadTime),
    },
  });
}

/** Inserts deliveries as delivered. */
async function insertDeliveries(
  tx: Transaction,
  deliveries: readonly Tables['Delivery'][],
): Promise<void> {
  const completed = deliveries.map(completeDelivery);
  await insertRows(
    tx,
    'Delivery',
    completed.map(({ delivery }) => delivery),
  );
  await insertRows(
    tx,
    'DeliveryAttempt',
    completed.map(({ attempt }) => attempt),
  );
}

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
interface FirstRead {
  operation: Tables['Operation'];
  objectName: string;
  /** Null if the server does not record requests. */
  request: RecordedRequest | null;
  /** Undefined if the account had no records. */
  delivery: Delivery | undefined;
}

/** An operation with its requests and, if it read records, the delivery of the records. */
interface PastWork {
  operation: Operation;
  requests: RecordedRequest[];
  delivery?: Delivery;
}

/** Returns the time of the first scheduled read after `time`. */
function getNextReadTime(time: Date): Date {
  const timeMs = time.getTime();
  return new Date(timeMs - (timeMs % READ_INTERVAL_MS) + READ_INTERVAL_MS);
}

/** Creates the scheduled reads and hourly writes that ended before `now`. `index` numbers the demo's installations. */
function createPastWork(firstRead: FirstRead, index: number, now: Date): PastWork[] {
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
  const requests = request ? [createReadRequest(request, operation)] : [];
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
function formatMessage(
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

/** Copies the request of a first read, and adds the window of a scheduled one. */
function createReadRequest(request: RecordedRequest, operation: Operation): RecordedRequest {
  const { since, until } = createReadDetails(operation.createTime);
  // The help desk of the sandbox filters by milliseconds.
  const window = request.path.startsWith('/desk/')
    ? `changed_since=${Date.parse(since)}&changed_until=${Date.parse(until)}`
    : `updated_since=${since}&updated_until=${until}`;
  const path = `${request.path}&${window}`;
  return createRequest({ ...request, path }, operation, operation.createTime.getTime());
}

function createRequest(
  request: RecordedRequest,
  { id: operationId }: Operation,
  startMs: number,
): RecordedRequest {
  const id = newIdAt('req', startMs);
  return { ...request, id, operationId, durationMs: 14, createTime: new Date(startMs) };
}

/** Returns the details that the first line of a scheduled read's log has. */
function createReadDetails(startTime: Date) {
  const since = new Date(startTime.getTime() - READ_INTERVAL_MS);
  return { readType: 'SCHEDULED', since: since.toISOString(), until: startTime.toISOString() };
}

/** Creates the only line of an operation's log. */
function createLogLine(operation: Operation): Tables['OperationLog'] {
  const {
    id: operationId,
    projectId,
    actionType,
    status,
    result,
    createTime,
    updateTime,
  } = operation;
  return {
    id: newIdAt('log', updateTime.getTime()),
    projectId,
    operationId,
    timestamp: updateTime,
    severity: status === 'FAILURE' ? 'ERROR' : 'INFO',
    message: result ?? '',
    details: actionType === 'READ' ? createReadDetails(createTime) : null,
  };
}

/** Marks a delivery as delivered by its first attempt, and returns it with the attempt. */
function completeDelivery(delivery: Delivery): {
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
