/** Runs one attempt of a write: sends its requests to the provider, and sets the outcomes of their records. */
import { inTransaction } from '../../../../database/transactions/transaction.ts';
import { DomainError } from '../../../../kernel/errors.ts';
import type { Text } from '../../../../kernel/text.ts';
import type { Provider, ProviderSession } from '../../../../providers/contract.ts';
import type { RecordOutcome } from '../../../../providers/moving-records.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import type { ProviderServices, RowServices, Services } from '../../../access/call.ts';
import { describeMissingProvider } from '../../../access/catalog.ts';
import { openProviderSession } from '../../../connections/connection/connection-session.ts';
import {
  createStaleOutcome,
  createUnknownOutcome,
  type StoredOutcome,
  toErrorText,
  toStorableOutcome,
} from './outcome.ts';
import { hasValue } from './record-mapping.ts';
import { hasValues, hasVersion } from './record-version.ts';
import type { AttemptFailure } from './retry.ts';
import {
  saveOutcomes,
  WRITE_LEASES,
  type WriteClaim,
  type WriteEntry,
  type WriteTask,
} from './write-task.ts';

/** The failure that stopped an attempt. */
export interface StoppingFailure extends AttemptFailure {
  /** Entries that were never sent, because an earlier request failed. Absent if an earlier attempt may have sent them. */
  unsentEntries?: readonly WriteEntry[];
}

interface Attempt {
  claim: WriteClaim;
  /** Null if the catalog no longer has the provider. */
  provider: Provider | null;
  entries: readonly WriteEntry[];
}

interface RequestContext {
  task: WriteTask;
  provider: Provider;
  session: ProviderSession;
}

/** Sets the outcomes of the entries that have none yet. Returns the failure that stopped the attempt, or null. */
export async function attemptWrite(
  services: ProviderServices,
  { claim, provider, entries }: Attempt,
): Promise<StoppingFailure | null> {
  const { task, target, wasUncertain } = claim;
  if (!target) return createPermanentFailure('The installation has been deleted.');
  if (!provider) return createPermanentFailure(describeMissingProvider(target.connection.provider));
  let context: RequestContext;
  try {
    context = {
      task,
      provider,
      session: openProviderSession(services, target.connection, provider),
    };
  } catch (error) {
    return toFailure(services, error);
  }
  const sendsKey = supportsKey(provider, { task, entries });
  const requests = groupIntoRequests(entries, { task, provider }).filter(isOpen);
  for (const [index, request] of requests.entries()) {
    // A failure of this request must not lose the outcomes of earlier requests.
    if (index > 0) await saveProgress(services, claim, entries);
    try {
      await setOutcomes(request, { ...context, wasUncertain, sendsKey });
    } catch (error) {
      const failure = toFailure(services, error);
      return wasUncertain
        ? failure
        : { ...failure, unsentEntries: requests.slice(index + 1).flat() };
    }
  }
  return null;
}

const isOpen = (request: readonly WriteEntry[]) => request.some(({ outcome }) => outcome === null);

async function setOutcomes(
  request: readonly WriteEntry[],
  context: RequestContext & { wasUncertain: boolean; sendsKey: boolean },
): Promise<void> {
  const outcomeByVersion = await findOutcomeByVersion(request, context);
  if (outcomeByVersion) {
    for (const entry of request) entry.outcome = outcomeByVersion;
    return;
  }
  const outcomes = await sendRequest(request, context);
  await addCurrentData(outcomes, request, context);
  for (const [index, entry] of request.entries()) {
    const outcome = outcomes[index];
    if (outcome) entry.outcome = toStorableOutcome(outcome, context);
  }
}

/** Renews the lease of the claim and saves the outcomes. Throws LeaseLost if the claim no longer holds the task. */
function saveProgress(
  { database }: RowServices,
  { task }: WriteClaim,
  entries: readonly WriteEntry[],
): Promise<void> {
  return inTransaction(database, async (tx) => {
    await WRITE_LEASES.renew(tx, task);
    await saveOutcomes(tx, task, entries);
  });
}

/**
 * True if the provider recognizes repeated requests of the task by their keys. After an erasure has removed records, keys
 * must not be sent, because the requests differ from the earlier requests.
 */
export function supportsKey(
  { features }: Provider,
  { task, entries }: { task: WriteClaim['task']; entries: readonly WriteEntry[] },
): boolean {
  return features.idempotencyKeyLifetimeMs !== null && entries.length === task.recordCount;
}

/**
 * Groups all entries of the task by request, in the order of the requests. The groups of a task never change, so that an
 * attempt that repeats a request sends the same records with the same key. A request updates a record once, because
 * HubSpot refuses a request that repeats an id. Further updates are in later requests, in their order. An all-or-none
 * batch stays one request, and the provider decides about repeated ids.
 */
function groupIntoRequests(
  entries: readonly WriteEntry[],
  {
    task: { type, allOrNone },
    provider: { limits },
  }: Pick<RequestContext, 'task'> & { provider: Pick<Provider, 'limits'> },
): WriteEntry[][] {
  const separatesUpdates = type === 'UPDATE' && !allOrNone;
  const updateCounts = new Map<string, number>();
  const requests = Map.groupBy(entries, ({ position, record }) => {
    const batch = Math.floor(position / limits.batchSize);
    if (!separatesUpdates) return `${batch}`;
    const target = `${batch} ${String(record.id)}`;
    const earlierCount = updateCounts.get(target) ?? 0;
    updateCounts.set(target, earlierCount + 1);
    return `${batch} ${earlierCount}`;
  });
  return [...requests.values()];
}

/**
 * Compares the record of a single write with the version that the write expects. Returns null if the write may be sent.
 * If an earlier attempt may have been executed, and the record has the values of the write, the write has succeeded.
 */
async function findOutcomeByVersion(
  [entry]: readonly WriteEntry[],
  { task, provider, session, wasUncertain }: RequestContext & { wasUncertain: boolean },
): Promise<StoredOutcome | null> {
  if (!entry?.expected) return null;
  const { expected, record } = entry;
  const { readRecords } = provider.capabilities;
  if (!readRecords) throw createUnsupportedWriteError(provider);
  const id = String(record.id);
  const fields = [...new Set([...expected.fields, ...Object.keys(record)])];
  const [currentRecord] = await readRecords(session, {
    objectName: task.objectName,
    fields,
    ids: [id],
  });
  if (currentRecord && hasVersion(currentRecord, expected)) return null;
  if (!wasUncertain) return createStaleOutcome(id);
  const isWritten =
    task.type === 'DELETE'
      ? !currentRecord
      : currentRecord !== undefined && hasValues(currentRecord, record);
  if (isWritten) {
    return { success: true, recordId: id, data: currentRecord?.raw ?? null, errors: [] };
  }
  return createUnknownOutcome(id, 'The record has changed, possibly by this write.');
}

async function sendRequest(
  storedEntries: readonly WriteEntry[],
  { task, provider, session, sendsKey }: RequestContext & { sendsKey: boolean },
): Promise<RecordOutcome[]> {
  const entries = await omitFilledFields(storedEntries, { task, provider, session });
  const { objectName, type, allOrNone } = task;
  const { writeRecord, writeBatch, deleteRecord } = provider.capabilities;
  const headers = (task.headers ?? undefined) as { key: string; value: string }[] | undefined;
  const records = entries.map(({ record, associations }) => ({
    record,
    ...(associations && { associations }),
  }));
  const [firstRecord] = records;
  // A repeated attempt may omit other filled fields, and a key must not be used for two different requests.
  const isUnchanged = entries.every((entry, index) => entry === storedEntries[index]);
  const idempotencyKey = sendsKey && isUnchanged ? `${task.id}.${entries[0]?.position}` : undefined;
  if (type === 'DELETE') {
    if (!firstRecord || !deleteRecord) throw createUnsupportedWriteError(provider);
    const id = String(firstRecord.record.id);
    return [await deleteRecord(session, { objectName, id, headers })];
  }
  if (records.length === 1 && firstRecord) {
    if (!writeRecord) throw createUnsupportedWriteError(provider);
    const write = { type, objectName, ...firstRecord, headers, idempotencyKey };
    return [await writeRecord(session, write)];
  }
  if (!writeBatch) throw createUnsupportedWriteError(provider);
  return writeBatch(session, { type, objectName, records, allOrNone, headers, idempotencyKey });
}

/** Adds the record's current data to the outcome of a single synchronous write, if the provider's response had none. */
async function addCurrentData(
  outcomes: RecordOutcome[],
  [entry]: readonly WriteEntry[],
  { task, provider, session }: RequestContext,
): Promise<void> {
  const { readRecords } = provider.capabilities;
  const [outcome, ...otherOutcomes] = outcomes;
  if (!outcome?.success || otherOutcomes.length > 0 || !readRecords) return;
  const { recordId: id, data } = outcome;
  if (task.mode !== 'SYNCHRONOUS' || task.type === 'DELETE' || data !== null || id === null) return;
  const fields = Object.keys(entry?.record ?? {});
  const { objectName } = task;
  // The record has been written. A failure to read it does not change that.
  const [record] = await readRecords(session, { objectName, fields, ids: [id] }).catch(() => []);
  outcome.data = record?.raw ?? null;
}

/** Creates the error for a write that an earlier version of this server accepted. */
function createUnsupportedWriteError({ displayName }: Provider): ProviderError {
  return new ProviderError('BAD_REQUEST', `${displayName} no longer supports such writes.`);
}

function toFailure({ log }: Pick<Services, 'log'>, error: unknown): AttemptFailure {
  if (error instanceof ProviderError) {
    const { isTemporary, isOutcomeUnknown, retryAfterMs } = error;
    return { message: toErrorText(error.message), isTemporary, isOutcomeUnknown, retryAfterMs };
  }
  if (error instanceof DomainError) {
    return createPermanentFailure(toErrorText(error.detail));
  }
  // This is a defect or a database outage. The provider may have executed the request.
  log.error({ err: error }, 'write.attempt_failed');
  const message = 'An unexpected error stopped the write.';
  return { message, isTemporary: true, isOutcomeUnknown: true, retryAfterMs: null };
}

/** Creates a failure that no later attempt can avoid. */
export function createPermanentFailure(
  message: Text,
  { isOutcomeUnknown = false } = {},
): AttemptFailure {
  return { message, isTemporary: false, isOutcomeUnknown, retryAfterMs: null };
}

/**
 * Omits fields that are written only if they are empty, but that have a value at the provider. Throws ProviderError if the
 * records can't be read.
 */
async function omitFilledFields(
  entries: readonly WriteEntry[],
  { session, provider, task: { objectName } }: RequestContext,
): Promise<readonly WriteEntry[]> {
  const conditionalEntries = entries.filter(({ ifEmpty }) => ifEmpty !== null);
  if (conditionalEntries.length === 0) return entries;
  const { readRecords } = provider.capabilities;
  if (!readRecords) {
    throw new ProviderError(
      'BAD_REQUEST',
      'The provider no longer supports reading records by id.',
    );
  }
  const fields = [...new Set(conditionalEntries.flatMap(({ ifEmpty }) => ifEmpty ?? []))];
  const ids = [...new Set(conditionalEntries.map(({ record }) => String(record.id)))];
  const currentRecords = await readRecords(session, { objectName, fields, ids });
  const recordsById = new Map(currentRecords.map((record) => [record.id, record]));
  return entries.map((entry) => {
    const { ifEmpty, record } = entry;
    const currentRecord = recordsById.get(String(record.id));
    const filledNames = (ifEmpty ?? []).filter((name) => hasValue(currentRecord?.fields[name]));
    if (filledNames.length === 0) return entry;
    const emptyFields = Object.entries(record).filter(([name]) => !filledNames.includes(name));
    return { ...entry, record: Object.fromEntries(emptyFields) };
  });
}
