/** One attempt of a write: the requests to the provider, and their outcomes. */
import { DomainError } from '../../../errors.ts';
import type { Capabilities, Provider, ProviderSession } from '../../../providers/contract.ts';
import type { RecordOutcome } from '../../../providers/moving-records.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import type { Services } from '../../call.ts';
import { hasValue } from './field-settings.ts';
import { errorText, storableOutcome } from './outcome.ts';
import type { AttemptFailure } from './retry.ts';
import type { Claim, ClaimedTask, WriteEntry } from './task.ts';

export interface Attempt {
  claim: Claim;
  provider: Provider;
  session: ProviderSession;
  entries: readonly WriteEntry[];
  /** Called between two requests: the outcome of the first must not be lost with the second. */
  onProgress: () => Promise<void>;
}

/**
 * Whether the provider knows the task's requests again by their keys. They are others once an erasure has taken records
 * out of them.
 */
export function takesKey(
  { takes }: Provider,
  { task, entries }: { task: Claim['task']; entries: readonly WriteEntry[] },
): boolean {
  return takes.idempotencyKeyMs !== null && entries.length === task.recordCount;
}

/** Sets the outcomes of the entries that have none yet; the failure that stopped it, or null. */
export async function attemptWrite(
  services: Services,
  { claim, provider, session, entries, onProgress }: Attempt,
): Promise<AttemptFailure | null> {
  const requests = requestsOf(entries, provider.limits.batchSize);
  const hasKey = takesKey(provider, { task: claim.task, entries });
  for (const [index, own] of requests.entries()) {
    if (index > 0) await onProgress();
    try {
      const outcomes = await send(own, { claim, provider, session, hasKey });
      await readBack(outcomes, { claim, provider, session, entries: own });
      for (const [place, entry] of own.entries()) {
        const outcome = outcomes[place];
        if (outcome) entry.outcome = storableOutcome(outcome);
      }
    } catch (error) {
      return failureOf(services, error);
    }
  }
  return null;
}

/**
 * Entries that go into one request. Always the same for the same task: an attempt that repeats a request
 * sends the same records under the same key.
 */
function requestsOf(entries: readonly WriteEntry[], batchSize: number): WriteEntry[][] {
  const requests = Map.groupBy(entries, ({ position }) => Math.floor(position / batchSize));
  return [...requests.values()].filter((own) => own.some(({ outcome }) => outcome === null));
}

async function send(
  stored: readonly WriteEntry[],
  {
    claim: { task },
    provider,
    session,
    hasKey,
  }: Pick<Attempt, 'claim' | 'provider' | 'session'> & { hasKey: boolean },
): Promise<RecordOutcome[]> {
  const { readRecords } = provider.capabilities;
  const entries = await withoutFilled(stored, { session, readRecords, task });
  const { objectName, type, allOrNone } = task;
  const { writeRecord, writeBatch, deleteRecord } = provider.capabilities;
  const headers = (task.headers ?? undefined) as { key: string; value: string }[] | undefined;
  const records = entries.map(({ record, associations }) => ({
    record,
    ...(associations && { associations }),
  }));
  const [first] = records;
  // What is sent after a look at the records may be other fields the next time, under which the key is another's.
  const isSame = entries.every((entry, index) => entry === stored[index]);
  const idempotencyKey = hasKey && isSame ? `${task.id}.${entries[0]?.position}` : undefined;
  if (type === 'DELETE') {
    if (!first || !deleteRecord) throw lacking(provider);
    return [await deleteRecord(session, { objectName, id: String(first.record.id), headers })];
  }
  if (records.length === 1 && first) {
    if (!writeRecord) throw lacking(provider);
    return [await writeRecord(session, { type, objectName, ...first, headers, idempotencyKey })];
  }
  if (!writeBatch) throw lacking(provider);
  return writeBatch(session, { type, objectName, records, allOrNone, headers, idempotencyKey });
}

/** A caller who waits for a single record gets it as it is now, if the provider's answer has not said so. */
async function readBack(
  outcomes: RecordOutcome[],
  { claim: { task }, provider, session, entries }: Omit<Attempt, 'onProgress'>,
): Promise<void> {
  const { readRecords } = provider.capabilities;
  const [outcome, ...others] = outcomes;
  if (!outcome?.success || others.length > 0 || !readRecords) return;
  const { recordId: id, data } = outcome;
  if (task.mode !== 'SYNCHRONOUS' || task.type === 'DELETE' || data !== null || id === null) return;
  const fields = Object.keys(entries[0]?.record ?? {});
  const { objectName } = task;
  // It is written: that it can't be read now changes nothing about that.
  const found = await readRecords(session, { objectName, fields, ids: [id] }).catch(() => []);
  outcome.data = found[0]?.raw ?? null;
}

/** Happens only after an update of this server, to a write that was accepted before it. */
function lacking({ displayName }: Provider): ProviderError {
  return new ProviderError('BAD_REQUEST', `${displayName} does not take such writes any more.`);
}

export function failureOf({ log }: Pick<Services, 'log'>, error: unknown): AttemptFailure {
  if (error instanceof ProviderError) {
    const { passesLater, outcomeUnknown, retryAfterMs } = error;
    return { message: errorText(error.message), passesLater, outcomeUnknown, retryAfterMs };
  }
  if (error instanceof DomainError) {
    const message = errorText(error.message);
    return { message, passesLater: false, outcomeUnknown: false, retryAfterMs: null };
  }
  // A defect of a connector, or a database outage: how far the request came is not known.
  log.error({ err: error }, 'write.attempt_failed');
  const message = 'An unexpected error stopped the write.';
  return { message, passesLater: true, outcomeUnknown: true, retryAfterMs: null };
}

/** Fields that are written only into records that have no value for them: the records are read first. */

interface Source {
  session: ProviderSession;
  readRecords: Capabilities['readRecords'];
  task: ClaimedTask;
}

/** The entries as they are to be sent. Throws ProviderError if the records can't be read. */
async function withoutFilled(
  entries: readonly WriteEntry[],
  { session, readRecords, task: { objectName } }: Source,
): Promise<readonly WriteEntry[]> {
  const careful = entries.filter(({ ifEmpty }) => ifEmpty !== null && ifEmpty.length > 0);
  if (careful.length === 0) return entries;
  if (!readRecords) {
    throw new ProviderError(
      'BAD_REQUEST',
      'The provider does not read records by their ids any more.',
    );
  }
  const fields = [...new Set(careful.flatMap(({ ifEmpty }) => ifEmpty ?? []))];
  const ids = [...new Set(careful.map(({ record }) => String(record.id)))];
  const present = await readRecords(session, { objectName, fields, ids });
  const byId = new Map(present.map((record) => [record.id, record]));
  return entries.map((entry) => {
    const { ifEmpty, record } = entry;
    const filled = (ifEmpty ?? []).filter((name) =>
      hasValue(byId.get(String(record.id))?.fields[name]),
    );
    if (filled.length === 0) return entry;
    const left = Object.entries(record).filter(([name]) => !filled.includes(name));
    return { ...entry, record: Object.fromEntries(left) };
  });
}
