/** The answer to the caller of a write. */
import type { Row } from '../../../database/rows.ts';
import { withDeadline } from '../../../work/deadline.ts';
import type { Call } from '../../call.ts';
import { storedJson } from '../../storable-json.ts';
import { failedOutcome, type StoredOutcome } from './outcome.ts';
import type { EndedWrite } from './write-end.ts';

interface ReportedOutcome extends StoredOutcome {
  /** Not known yet. */
  isPending?: true;
}

export interface WriteOutcome {
  operation: Row<'Operation'>;
  /** Only of a synchronous single write. */
  result: StoredOutcome | null;
  /** Only of a synchronous batch: one for each record, in order. */
  results: StoredOutcome[] | null;
  successCount: number | null;
  failureCount: number | null;
}

/** The part of a mutation's time that is kept for the answer itself. */
const RESPONSE_MARGIN_MS = 5_000;
/** If a mutation's time is set below that. */
const WAIT_MS_MIN = 50;

/** The answer to an asynchronous write: its operation. */
export function acceptedResult(operation: Row<'Operation'>): WriteOutcome {
  return { operation, result: null, results: null, successCount: null, failureCount: null };
}

export interface Waiting {
  operation: Row<'Operation'>;
  /** Whether the request is a batch. */
  isBatch: boolean;
  /** The work, if this call does it, with the outcome if it knows that. */
  running?: Promise<EndedWrite | null>;
}

/** The outcome when the write has ended, or that it is not known yet if that takes too long. */
export async function awaitResult(call: Call, waiting: Waiting): Promise<WriteOutcome> {
  const { operation, isBatch } = waiting;
  const { promise: late, resolve: giveUp } = Promise.withResolvers<void>();
  const waitMs = Math.max(call.config.LIMIT_MUTATION_MS - RESPONSE_MARGIN_MS, WAIT_MS_MIN);
  const running = untilEnded(call, waiting, late);
  const ended = await withDeadline(running, waitMs, () => null).finally(giveUp);
  const outcomes: ReportedOutcome[] =
    ended?.outcomes ??
    (await listOutcomes(call, operation)).map((outcome) => outcome ?? notYet(operation));
  const known = outcomes.filter((outcome) => !outcome.isPending);
  const successCount = known.filter(({ success }) => success).length;
  return {
    operation: ended?.operation ?? (await readOperation(call, operation)) ?? operation,
    result: isBatch ? null : (outcomes[0] ?? null),
    results: isBatch ? outcomes : null,
    successCount,
    failureCount: known.length - successCount,
  };
}

/**
 * The outcome, or null if it has to be read: another process may do the work, or continue it after an error in this
 * one.
 */
async function untilEnded(
  call: Call,
  { operation, running }: Waiting,
  givenUp: Promise<void>,
): Promise<EndedWrite | null> {
  const ended = await running?.catch((error: unknown) => {
    call.log.warn({ err: error, operationId: operation.id }, 'write.left_to_recovery');
    return null;
  });
  if (ended) return ended;
  const now = await readOperation(call, operation);
  if (now?.status !== 'IN_PROGRESS') return null;
  const changes = call.operationChanges.follow(now);
  void givenUp.then(() => changes.return?.());
  for await (const { node } of changes) if (node.status !== 'IN_PROGRESS') break;
  return null;
}

async function readOperation({ database }: Call, { id, projectId }: Row<'Operation'>) {
  const [operation] = await database.rows.find('Operation', { id, projectId });
  return operation ?? null;
}

async function listOutcomes({ database }: Call, { id: operationId, projectId }: Row<'Operation'>) {
  const entries = await database.prisma.writeEntry.findMany({
    where: { projectId, operationId },
    orderBy: { position: 'asc' },
    select: { outcome: true },
  });
  return entries.map(({ outcome }) => storedJson<ReportedOutcome | null>(outcome));
}

function notYet({ id }: Row<'Operation'>): ReportedOutcome {
  const text = `The outcome is not known yet: the operation ${id} goes on.`;
  return { ...failedOutcome(null, text), isPending: true };
}
