/** Builds the result of a write for its caller. */
import type { Row } from '../../../database/rows.ts';
import { withDeadline } from '../../../work/deadline.ts';
import type { Call } from '../../call.ts';
import { storedJson } from '../../storable-json.ts';
import { failedOutcome, type StoredOutcome } from './outcome.ts';
import type { EndedWrite } from './write-end.ts';

interface ReportedOutcome extends StoredOutcome {
  /** True if the outcome is not known yet. */
  isPending?: true;
}

export interface WriteOutcome {
  operation: Row<'Operation'>;
  /** The outcome of a synchronous single write. Null for other writes. */
  result: StoredOutcome | null;
  /** The outcomes of a synchronous batch: one for each record, in order. Null for other writes. */
  results: StoredOutcome[] | null;
  successCount: number | null;
  failureCount: number | null;
}

/** The part of a mutation's time limit that is reserved for building the response. */
const RESPONSE_MARGIN_MS = 5_000;
/** The wait if a mutation's time limit is shorter than the margin. */
const WAIT_MS_MIN = 50;

/** The result of an asynchronous write: its operation. */
export function acceptedResult(operation: Row<'Operation'>): WriteOutcome {
  return { operation, result: null, results: null, successCount: null, failureCount: null };
}

export interface Waiting {
  operation: Row<'Operation'>;
  /** True if the request is a batch. */
  isBatch: boolean;
  /**
   * The running write, if this process executes it. It resolves to the outcome, or null if another process knows it.
   */
  running?: Promise<EndedWrite | null>;
}

/** Waits until the write ends and returns its outcome. After the time limit, it returns a pending outcome. */
export async function awaitResult(call: Call, waiting: Waiting): Promise<WriteOutcome> {
  const { operation, isBatch } = waiting;
  const { promise: timedOut, resolve: stopWaiting } = Promise.withResolvers<void>();
  const waitMs = Math.max(call.config.LIMIT_MUTATION_MS - RESPONSE_MARGIN_MS, WAIT_MS_MIN);
  const running = untilEnded(call, waiting, timedOut);
  const ended = await withDeadline(running, waitMs, () => null).finally(stopWaiting);
  const outcomes: ReportedOutcome[] =
    ended?.outcomes ??
    (await listOutcomes(call, operation)).map((outcome) => outcome ?? pendingOutcome(operation));
  const settled = outcomes.filter((outcome) => !outcome.isPending);
  const successCount = settled.filter(({ success }) => success).length;
  return {
    operation: ended?.operation ?? (await readOperation(call, operation)) ?? operation,
    result: isBatch ? null : (outcomes[0] ?? null),
    results: isBatch ? outcomes : null,
    successCount,
    failureCount: settled.length - successCount,
  };
}

/**
 * Waits until the write ends. Returns null if the outcome must be read: another process may execute the write, or
 * continue it after an error in this one.
 */
async function untilEnded(
  call: Call,
  { operation, running }: Waiting,
  stopped: Promise<void>,
): Promise<EndedWrite | null> {
  const ended = await running?.catch((error: unknown) => {
    call.log.warn({ err: error, operationId: operation.id }, 'write.left_to_recovery');
    return null;
  });
  if (ended) return ended;
  const now = await readOperation(call, operation);
  if (now?.status !== 'IN_PROGRESS') return null;
  const changes = call.operationChanges.follow(now);
  void stopped.then(() => changes.return?.());
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

function pendingOutcome({ id }: Row<'Operation'>): ReportedOutcome {
  const text = `The outcome is not known yet: the operation ${id} is still running.`;
  return { ...failedOutcome(null, text), isPending: true };
}
