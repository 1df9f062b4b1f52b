/**
 * Gives a new demo two days of history: the rows of the setup move to the past, and each installation gets scheduled
 * reads, hourly writes and deliveries since then.
 */
import { insertRows, moveRowsToIdTimes, recountActivity } from '../database/past-rows.ts';
import type { Tables } from '../database/tables.ts';
import { inTransaction, type Transaction } from '../database/transaction.ts';
import type { Services } from '../domain/call.ts';
import { parseOperationMetadata } from '../domain/operation/operation.ts';
import { getIdTimeMs, withAgedIds } from '../ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../work/durations.ts';
import {
  completeDelivery,
  createLogLine,
  createPastWork,
  type FirstRead,
  formatMessage,
  getNextReadTime,
  type PastWork,
} from './past-work.ts';

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
