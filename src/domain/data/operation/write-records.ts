/** Writes records, from the input of a call to its response. */
import { z } from 'zod';
import {
  findNamedTarget,
  type NamedTarget,
} from '../../../database/statements/hot/write-target.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { notifyWorkers } from '../../../jobs/workers.ts';
import { notFound } from '../../../kernel/errors.ts';
import { findPrefix } from '../../../kernel/ids.ts';
import { withDeadline } from '../../../work/deadline.ts';
import type { Call, RowCall, RowServices } from '../../access/call.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { canSee } from '../../access/scope.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { jsonObject, resource } from '../../base/resource.ts';
import { castJsonColumn } from '../../base/storable-json.ts';
import { waitForProvider } from '../../connections/provider/provider-wait.ts';
import { refuseIfBacklogged } from '../../events/delivery-backlog.ts';
import { OMITTED_FIELDS_OF_RECORD, parseOperationMetadata } from './operation.ts';
import { createFailedOutcome, type StoredOutcome } from './write/outcome.ts';
import type { UnknownFields } from './write/record-mapping.ts';
import type { EndedWrite } from './write/write-end.ts';
import { type WriteInput, writeRecordsInput } from './write/write-input.ts';
import { planWrite } from './write/write-plan.ts';
import { runAttempt, runToEnd, writes } from './write/write-run.ts';
import {
  acceptWrite,
  createWriteKey,
  findOperationByKey,
  type WriteToStart,
} from './write/write-start.ts';
import { listOmittedFields, type WriteEntry } from './write/write-task.ts';

/** The part of a mutation's time limit that is reserved for building the response. */
const RESPONSE_MARGIN_MS = 5_000;
/** The shortest wait, if a mutation's time limit is shorter than the margin. */
const WAIT_MS_MIN = 50;

const declaration = {
  description: "Creates, updates or deletes records in a group's account at the provider.",
  needs: orEndUser('records:write', 'WRITE_RECORDS'),
  input: writeRecordsInput,
};

/** Throws BAD_USER_INPUT for names that the integration does not have. */
export const writeRecords = projectMutation({
  ...declaration,
  run: (call, input, { id }) => write(call, input, { projectId: id, unknownFields: 'REFUSE' }),
});

/** Writes records like `writeRecords`, but omits names that the integration does not have, as the reference API does. */
export const writeKnownFields = projectMutation({
  ...declaration,
  run: (call, input, { id }) => write(call, input, { projectId: id, unknownFields: 'OMIT' }),
});

/**
 * An asynchronous write returns when it is stored. A synchronous write returns its outcome, or a pending outcome shortly
 * before LIMIT_MUTATION_MS. A refusal by the provider is an outcome, not an error. Throws RATE_LIMITED for an
 * asynchronous write while the project has too many pending deliveries.
 */
async function write(
  call: Call,
  input: WriteInput,
  { projectId, unknownFields }: { projectId: string; unknownFields: UnknownFields },
): Promise<WriteOutcome> {
  const mustWait = input.mode === 'SYNCHRONOUS';
  if (mustWait) call.slot?.requireProviderShare();
  const key = createWriteKey(call, projectId, input);
  const earlierOperation = key && (await findOperationByKey(call, key));
  if (earlierOperation) {
    return mustWait
      ? awaitOperation(call, earlierOperation, input)
      : createAcceptedOutcome(earlierOperation);
  }
  const target = await getWriteTarget(call, projectId, input);
  const writePlan = await planWrite(call, input, { target, unknownFields });
  const plannedWrite = { input, writePlan, key };
  return mustWait ? writeAndWait(call, plannedWrite) : writeLater(call, plannedWrite);
}

/**
 * Accepts and runs a write, and returns its outcome. Throws RATE_LIMITED or SERVICE_UNAVAILABLE before anything is
 * stored, so that the write can be repeated safely.
 */
export function writeAndWait(call: Call, write: WriteToStart): Promise<WriteOutcome> {
  const { target } = write.writePlan;
  return waitForProvider(call, target.installation, async () => {
    const { operation, task, entries } = await acceptWrite(call, write, { isHeld: true });
    const runningWrite = task && runToEnd(call, { task, entries, target, wasUncertain: false });
    return awaitOutcome(call, write.input, operation, runningWrite);
  });
}

/** Waits for the outcome of a write that another call has accepted. `batch` is absent for a single record. */
export function awaitOperation(
  call: Call,
  operation: Row<'Operation'>,
  { batch }: Pick<WriteInput, 'batch'>,
): Promise<WriteOutcome> {
  const { projectId } = operation;
  return waitForProvider(call, { projectId }, () => awaitOutcome(call, { batch }, operation));
}

/**
 * Accepts a write, and returns without its outcome. If this process has a free slot, it stores the write with a lease
 * and runs the first attempt. If not, or if the write collects further records, a worker claims it when it is due.
 */
async function writeLater(call: Call, write: WriteToStart): Promise<WriteOutcome> {
  const { target } = write.writePlan;
  const { id: share, projectId } = target.installation;
  await refuseIfBacklogged(call, projectId);
  using slot = write.input.autoBatchPolicy
    ? null
    : call.workers.takeSlot(writes, { projectId, share });
  const { operation, task, entries } = await acceptWrite(call, write, { isHeld: slot !== null });
  if (task && slot) {
    const claim = { task, entries, target, wasUncertain: false };
    slot.start({ ...task, wasUncertain: false }, (services) => runAttempt(services, claim));
  } else if (task?.batchKey === null) {
    notifyWorkers(call.database, writes);
  }
  return createAcceptedOutcome(operation);
}

/**
 * Returns the target of a write. Rows that the viewer may not see are null. Throws NOT_FOUND if the viewer may not see the
 * integration. The caller must check that the viewer may see the project.
 */
export async function getWriteTarget(
  { viewer, database }: RowCall,
  projectId: string,
  { integrationIdOrName, groupRef }: WriteInput,
): Promise<NamedTarget> {
  const by = findPrefix(integrationIdOrName) === 'int' ? 'id' : 'name';
  const integrationKey = { by, value: integrationIdOrName } as const;
  const names = { projectId, integration: integrationKey, groupRef };
  const target = await findNamedTarget(database.run, names);
  if (!target || !canSee(viewer, 'Integration', target.integration)) {
    throw notFound('Integration', integrationIdOrName);
  }
  const { integration, group } = target;
  if (!group || canSee(viewer, 'Group', group)) return target;
  return { integration, group: null, installation: null, connection: null, consumer: null };
}

export const writeErrorResource = resource('WriteError', 'Why a record was not written.', {
  message: z.string().describe('The human-readable reason.'),
});

export const recordResultResource = resource('RecordResult', 'The outcome of one record.', {
  success: z
    .boolean()
    .describe('Whether the record is known to be written. If not, `errors` has the reasons.'),
  recordId: z
    .string()
    .nullable()
    .describe(
      "The provider's id of the record. {Null} if no record was created, or if its id is unknown.",
    ),
  data: jsonObject
    .nullable()
    .describe("The record as it is now. {Null} if the provider's response does not contain it."),
  omittedFields: z.array(z.string()).describe(OMITTED_FIELDS_OF_RECORD),
});

export interface WriteOutcome {
  operation: Row<'Operation'>;
  /** The outcome of a synchronous single write. Null for other writes. */
  result: ReportedOutcome | null;
  /** The outcomes of a synchronous batch: one for each record, in order. Null for other writes. */
  results: ReportedOutcome[] | null;
  successCount: number | null;
  failureCount: number | null;
  /** Distinct names in the input that are not written, of all records: at most 200, each cut at 256 characters. */
  omittedFields: string[];
}

interface ReportedOutcome extends StoredOutcome {
  /** Names in the input that were not written. */
  omittedFields: string[];
  /** True if the outcome is not known yet. */
  isPending?: true;
}

function createAcceptedOutcome(operation: Row<'Operation'>): WriteOutcome {
  const { omittedFields } = parseOperationMetadata(operation);
  const counts = { successCount: null, failureCount: null };
  return { operation, result: null, results: null, ...counts, omittedFields };
}

/**
 * Waits for the outcome of a synchronous write. Returns a pending outcome after the time limit. `runningWrite` is null if
 * another process runs the write.
 */
async function awaitOutcome(
  call: Call,
  { batch }: Pick<WriteInput, 'batch'>,
  operation: Row<'Operation'>,
  runningWrite: Promise<EndedWrite | null> | null = null,
): Promise<WriteOutcome> {
  const { promise: timedOut, resolve: stopWaiting } = Promise.withResolvers<void>();
  const waitMs = Math.max(call.config.LIMIT_MUTATION_MS - RESPONSE_MARGIN_MS, WAIT_MS_MIN);
  const waiting = waitUntilEnded(call, operation, { runningWrite, timedOut });
  const endedWrite = await withDeadline(waiting, waitMs, () => null).finally(stopWaiting);
  const entries = endedWrite?.entries ?? (await listReportedEntries(call, operation));
  const outcomes = entries.map((entry) => reportOutcome(entry, operation));
  const finalOutcomes = outcomes.filter(({ isPending }) => !isPending);
  const successCount = finalOutcomes.filter(({ success }) => success).length;
  return {
    operation: endedWrite?.operation ?? (await readOperation(call, operation)) ?? operation,
    result: batch ? null : (outcomes[0] ?? null),
    results: batch ? outcomes : null,
    successCount,
    failureCount: finalOutcomes.length - successCount,
    omittedFields: listOmittedFields(entries),
  };
}

/**
 * Waits until the write ends. Returns null if the outcome must be read from the database: another process may have run
 * the write, or continued it after an error in this one.
 */
async function waitUntilEnded(
  call: Call,
  operation: Row<'Operation'>,
  {
    runningWrite,
    timedOut,
  }: { runningWrite: Promise<EndedWrite | null> | null; timedOut: Promise<void> },
): Promise<EndedWrite | null> {
  const endedWrite = await runningWrite?.catch((error: unknown) => {
    call.log.warn({ err: error, operationId: operation.id }, 'write.released');
    return null;
  });
  if (endedWrite) return endedWrite;
  const currentOperation = await readOperation(call, operation);
  if (currentOperation?.status !== 'IN_PROGRESS') return null;
  const changes = call.operationChanges.follow(currentOperation);
  void timedOut.then(() => changes.return?.());
  for await (const { node } of changes) if (node.status !== 'IN_PROGRESS') break;
  return null;
}

async function readOperation({ database }: RowServices, { id, projectId }: Row<'Operation'>) {
  const [operation] = await database.reads.find('Operation', { id, projectId });
  return operation ?? null;
}

type ReportedEntry = Pick<WriteEntry, 'outcome' | 'omittedFields'>;

async function listReportedEntries(
  { database }: RowServices,
  { id: operationId, projectId }: Row<'Operation'>,
): Promise<ReportedEntry[]> {
  const entries = await database.prisma.writeEntry.findMany({
    where: { projectId, operationId },
    orderBy: { position: 'asc' },
    select: { outcome: true, omittedFields: true },
  });
  return castJsonColumn(entries);
}

function reportOutcome(entry: ReportedEntry, { id }: Row<'Operation'>): ReportedOutcome {
  const omittedFields = entry.omittedFields ?? [];
  if (entry.outcome) return { ...entry.outcome, omittedFields };
  const text = `The outcome is not known yet: the operation ${id} is still running.`;
  return { ...createFailedOutcome(null, text), omittedFields, isPending: true };
}
