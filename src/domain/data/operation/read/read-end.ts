/** Ends reads: updates their operations and their objects, and records their events. */

import type { Row } from '../../../../database/statements/tables.ts';
import type { Transaction } from '../../../../database/transactions/transaction.ts';
import { recordEvent } from '../../../../events/record.ts';
import { pickSubject } from '../../../../events/subject.ts';
import { printText, type Text, text } from '../../../../kernel/text.ts';
import { toTextColumn } from '../../../base/stored-text.ts';
import {
  createConfigData,
  type InstallationFields,
  listInstallationFields,
} from '../../../integrations/installation/installation-events.ts';
import {
  getLatestObjectNames,
  type ObjectNames,
} from '../../../integrations/integration/delivered-object-names.ts';
import { logOperation, updateOperation } from '../operation-work.ts';
import { createReadMetadata, endRun, isAbandoned, type ReadRun } from './read-run.ts';

/** The number of consecutive failed reads after which the schedule is paused. */
const FAILED_RUNS_MAX = 5;

/** Ends a read whose pages have all been recorded. Call it last in the transaction of the last page. */
export async function succeedRun(tx: Transaction, run: ReadRun, now: Date): Promise<void> {
  const { objectName, recordsRead } = run;
  const result =
    recordsRead === 0
      ? `[${objectName}] No new data found`
      : `[${objectName}] Read completed (${recordsRead} ${recordsRead === 1 ? 'record' : 'records'})`;
  await endOperation(tx, run, { status: 'SUCCESS', result, now });
  await moveReadPosition(tx, run);
  await recordRunEvent(tx, run, (fields) => {
    if (run.readType === 'BACKFILL') return { eventType: 'READ_BACKFILL_DONE', data: fields };
    if (run.readType === 'SCHEDULED') return null;
    return { eventType: 'READ_TRIGGERED_DONE', data: { ...fields, ...formatWindow(run) } };
  });
}

/** Ends a read without its remaining pages. Recorded pages are kept. Call it last in a transaction. */
export async function failRun(
  tx: Transaction,
  run: ReadRun,
  { reason, now }: { reason: Text; now: Date },
): Promise<void> {
  const result = text`[${run.objectName}] Error reading from provider: ${reason}`;
  await endOperation(tx, run, { status: 'FAILURE', result, now });
  if (run.readType === 'TRIGGERED') {
    await recordRunEvent(tx, run, (fields) => ({
      eventType: 'READ_TRIGGERED_ERROR',
      data: { ...fields, ...formatWindow(run), error: printText(reason) },
    }));
    return;
  }
  if (isAbandoned(run)) return;
  const config = await countFailure(tx, run, { reason, now });
  if (!config) return;
  await recordRunEvent(tx, run, (fields) => ({
    eventType: 'READ_SCHEDULE_PAUSED',
    data: { ...fields, config: createConfigData(config), error: printText(reason) },
  }));
}

async function endOperation(
  tx: Transaction,
  run: ReadRun,
  { status, result, now }: { status: 'SUCCESS' | 'FAILURE'; result: Text; now: Date },
): Promise<void> {
  await endRun(tx, run);
  const operation = { id: run.operationId, projectId: run.projectId };
  await updateOperation(tx, operation, { status, result, metadata: createReadMetadata(run), now });
  const severity = status === 'SUCCESS' ? 'INFO' : 'ERROR';
  await logOperation(tx, operation, { severity, message: result });
}

/**
 * Makes the next scheduled read start where this read ended. An object that was reinstalled during a scheduled read starts
 * over with a backfill.
 */
async function moveReadPosition(tx: Transaction, run: ReadRun): Promise<void> {
  const { projectId, installationId, objectName, nextReadUntil, readType } = run;
  if (nextReadUntil === null) return;
  await tx.installedObject.updateMany({
    where: {
      projectId,
      installationId,
      objectName,
      ...(readType === 'SCHEDULED' && { backfillDone: true }),
    },
    data: { readUntil: nextReadUntil, backfillDone: true, consecutiveFailures: 0 },
  });
}

/** Counts a failed read. Returns the installation's config if this failure pauses the schedule, otherwise null. */
async function countFailure(
  tx: Transaction,
  { installationId, objectName, projectId }: ReadRun,
  { reason, now }: { reason: Text; now: Date },
): Promise<Row<'InstallationConfig'> | null> {
  const where = { projectId, installationId, objectName };
  const [object] = await tx.installedObject.updateManyAndReturn({
    where,
    data: { consecutiveFailures: { increment: 1 } },
  });
  if (!object || object.paused || object.consecutiveFailures < FAILED_RUNS_MAX) return null;
  const note = text`Paused after ${object.consecutiveFailures} failed reads in a row: ${reason}`;
  await tx.installedObject.updateMany({
    where,
    data: { paused: true, pausedSince: now, pauseNote: toTextColumn(note), nextReadTime: null },
  });
  const installation = await tx.installation.findUniqueOrThrow({
    where: { projectId_id: { projectId, id: installationId } },
  });
  return tx.installationConfig.findUniqueOrThrow({
    where: { projectId_id: { projectId, id: installation.configId } },
  });
}

/** Returns the window of a triggered read, as the members of its events. */
function formatWindow({ since, until }: ReadRun) {
  return {
    ...(since && { fromTimestamp: since.toISOString() }),
    ...(until && { untilTimestamp: until.toISOString() }),
  };
}

type ObjectFields = InstallationFields & ObjectNames & { objectName: string };
type RunEvent = Pick<Parameters<typeof recordEvent>[1], 'eventType' | 'data'>;

/** Records an event, unless the installation has been deleted. */
async function recordRunEvent(
  tx: Transaction,
  { projectId, installationId, objectName, operationId }: ReadRun,
  createEvent: (fields: ObjectFields) => RunEvent | null,
): Promise<void> {
  const [fields] = await listInstallationFields(tx, projectId, [installationId]);
  if (!fields) return;
  const integration = { projectId, id: fields.integrationId };
  const names = await getLatestObjectNames(tx, integration, objectName);
  const event = createEvent({ ...fields, objectName, ...names });
  if (!event) return;
  const origin = { projectId, connectionId: fields.connectionId, installationId, operationId };
  await recordEvent(tx, { ...event, ...origin, subject: pickSubject(fields) });
}
