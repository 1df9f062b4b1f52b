/**
 * Gives a new demo two days of history: the rows of the setup move to the past, and each installation gets scheduled
 * reads, hourly writes and deliveries since then.
 */
import { insertRows, moveRowsToIdTimes, recountActivity } from '../database/past-rows.ts';
import type { Tables } from '../database/tables.ts';
import { inTransaction, type Transaction } from '../database/transaction.ts';
import type { Services } from '../domain/call.ts';
import { getIdTimeMs, withAgedIds } from '../ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../work/durations.ts';
import {
  createAttempt,
  createLogLine,
  createReads,
  createRequests,
  createWrites,
  endDelivery,
  getNextReadTime,
  type PastInstallation,
  type PastRead,
  setMessageTimes,
} from './past-work.ts';

/** Runs a change of the demo's setup. */
export type Clock = <T>(change: () => Promise<T>) => Promise<T>;

/** The age of the first change. All changes take less than three hours, so each installation is two days old. */
const SETUP_AGE_MS = 2 * DAY_MS + 3 * HOUR_MS;
const CHANGE_INTERVAL_MS = 3 * MINUTE_MS;
/** The limit of the history's transaction. It takes a second, and much longer on a busy machine. */
const TRANSACTION_MS = 2 * MINUTE_MS;

/** Returns the clock of a new demo. Each change is in the past, and some minutes after the previous one. */
export function createPastClock({ now }: Pick<Services, 'now'>): Clock {
  let timeMs = now().getTime() - SETUP_AGE_MS;
  return (change) => {
    timeMs += CHANGE_INTERVAL_MS;
    return withAgedIds(now().getTime() - timeMs, change);
  };
}

/** The clock of a demo that has its history. */
export const PRESENT_CLOCK: Clock = (change) => change();

/** True if the rows of the demo have not been moved to the times of their ids. */
export function isWithoutHistory({ id, createTime }: { id: string; createTime: string }): boolean {
  return Date.parse(createTime) - getIdTimeMs(id) > HOUR_MS;
}

/** Adds the history in one transaction, so that an interrupted start adds nothing. */
export async function addHistory(
  { database, now, requestRecorder, sandboxUrl }: Services,
  project: Pick<Tables['Project'], 'id' | 'orgId'>,
): Promise<void> {
  const { id: projectId } = project;
  const { host } = new URL(sandboxUrl());
  // The requests of the first reads are stored in the background.
  await requestRecorder?.flush();
  const addRows = async (tx: Transaction) => {
    await moveRowsToIdTimes(tx, project);
    const deliveries = await tx.delivery.findMany({ where: { projectId } });
    await tx.delivery.deleteMany({ where: { projectId } });
    await insertDeliveries(tx, deliveries.filter(({ eventId }) => eventId).map(endDelivery));
    const objects = await tx.installedObject.findMany({
      where: { projectId, backfillDone: true },
      include: { installation: { include: { connection: true } } },
    });
    for (const [index, object] of objects.entries()) {
      const { installationId, objectName, backfillOperationId, installation } = object;
      const { integrationId, configId, groupId, connection, createTime } = installation;
      const { consumerId } = connection;
      const firstReadTime = new Date(getIdTimeMs(backfillOperationId ?? ''));
      const firstDelivery = deliveries.find(
        ({ eventId, operationId }) => !eventId && operationId === backfillOperationId,
      );
      const times = { installationUpdateTime: createTime, operationTime: firstReadTime };
      await addWork(tx, now(), {
        parents: { projectId, installationId, integrationId, configId, groupId, consumerId },
        objectName,
        firstReadTime,
        firstDelivery: firstDelivery && endDelivery(setMessageTimes(firstDelivery, times)),
        index,
        host,
      });
    }
    await recountActivity(tx, projectId);
  };
  await inTransaction(database, addRows, { timeout: TRANSACTION_MS });
}

async function addWork(tx: Transaction, now: Date, installation: PastInstallation): Promise<void> {
  const reads = createReads(installation, now);
  const writes = createWrites(installation, now);
  const operations = [...reads.map(({ operation }) => operation), ...writes];
  const requests = operations.flatMap((operation) => createRequests(installation, operation));
  const { firstDelivery } = installation;
  await insertRows(tx, 'Operation', operations);
  await insertRows(tx, 'OperationLog', operations.map(createLogLine));
  await insertRows(tx, 'RecordedRequest', requests);
  await insertDeliveries(
    tx,
    [firstDelivery, ...reads.map(({ delivery }) => delivery)].filter(
      (delivery) => delivery !== undefined,
    ),
  );
  await setReadState(tx, installation, reads, now);
}

async function insertDeliveries(
  tx: Transaction,
  deliveries: readonly Tables['Delivery'][],
): Promise<void> {
  await insertRows(tx, 'Delivery', deliveries);
  await insertRows(tx, 'DeliveryAttempt', deliveries.map(createAttempt));
}

/** Sets the state of the installed object to that after its past reads. */
async function setReadState(
  tx: Transaction,
  { parents: { projectId, installationId }, objectName, firstReadTime }: PastInstallation,
  reads: readonly PastRead[],
  now: Date,
): Promise<void> {
  const lastReadTime = reads.at(-1)?.operation.createTime ?? firstReadTime;
  await tx.installedObject.update({
    where: { projectId_installationId_objectName: { projectId, installationId, objectName } },
    data: {
      recordsRead: { increment: reads.reduce((sum, { recordCount }) => sum + recordCount, 0) },
      lastReadTime,
      readUntil: now,
      nextReadTime: getNextReadTime(lastReadTime),
    },
  });
}
