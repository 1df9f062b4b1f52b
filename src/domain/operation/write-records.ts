import type { Row } from '../../database/rows.ts';
import type { Call } from '../call.ts';
import { projectMutation } from '../declared-mutation.ts';
import { refuseIfBacklogged } from '../event/delivery-backlog.ts';
import { waitingForProvider } from '../provider/provider-wait.ts';
import { orEndUser } from '../viewer/needs.ts';
import { collectWrite } from './write/auto-batch.ts';
import { findKeyedOperation, keyedInput } from './write/idempotency-key.ts';
import { type StartedWrite, startWrite, type WriteToStart } from './write/start.ts';
import { type WriteInput, writeRecordsInput } from './write/write-input.ts';
import { planWrite, readTarget } from './write/write-plan.ts';
import { acceptedResult, awaitResult, type WriteOutcome } from './write/write-result.ts';
import { beginWrite, runToEnd } from './write/write-run.ts';

export { type WriteOutcome, writeRecordsInput };

/**
 * Writes records to a provider. Returns from an asynchronous write when it is stored. Returns from a synchronous one
 * with its outcome, or without it shortly before LIMIT_MUTATION_MS. A refusal by the provider is an outcome, not an
 * error. Throws RATE_LIMITED for an asynchronous write while the project has too many pending deliveries.
 */
export const writeRecords = projectMutation({
  description: "Creates, updates or deletes records in a group's account at the provider.",
  needs: orEndUser('records:write', 'WRITE_RECORDS'),
  input: writeRecordsInput,
  async run(call, input, project): Promise<WriteOutcome> {
    const keyed = keyedInput(call, project.id, input);
    const earlier = keyed && (await findKeyedOperation(call, keyed));
    if (earlier)
      return whileCallerWaits(call, input, earlier, () => resultOfOtherCall(call, input, earlier));
    const plan = await planWrite(call, input, await readTarget(call, project.id, input));
    if (input.mode === 'ASYNCHRONOUS') await refuseIfBacklogged(call, project.id);
    return whileCallerWaits(call, input, plan.installation, () =>
      startOnce(call, { input, plan, keyed }),
    );
  },
});

/**
 * Runs a synchronous write as a request that waits for a provider. Throws RATE_LIMITED or SERVICE_UNAVAILABLE before
 * anything is stored, so that the write can be repeated safely.
 */
function whileCallerWaits<T>(
  call: Call,
  { mode }: WriteInput,
  { projectId, connectionId }: { projectId: string; connectionId?: string },
  work: () => Promise<T>,
): Promise<T> {
  if (mode === 'ASYNCHRONOUS') return work();
  const awaited = { projectId, ...(connectionId !== undefined && { connectionId }) };
  return waitingForProvider(call, awaited, work);
}

async function startOnce(call: Call, write: WriteToStart): Promise<WriteOutcome> {
  const { input } = write;
  if (input.autoBatchPolicy) {
    return resultOfOtherCall(
      call,
      input,
      (await collectWrite(call, write)) ?? (await getKeyedOperation(call, write)),
    );
  }
  const started = await startWrite(call, write);
  if (!started) return resultOfOtherCall(call, input, await getKeyedOperation(call, write));
  return resultOfStarted(call, input, started);
}

async function resultOfStarted(
  call: Call,
  input: WriteInput,
  started: StartedWrite,
): Promise<WriteOutcome> {
  const { operation, claim } = started;
  if (!claim) {
    await beginWrite(call, started);
    return acceptedResult(operation);
  }
  const running = runToEnd(call, claim);
  return awaitResult(call, { operation, isBatch: input.batch != null, running });
}

/** Returns the operation of the call that took the idempotency key. */
async function getKeyedOperation(call: Call, { keyed }: WriteToStart): Promise<Row<'Operation'>> {
  const first = keyed && (await findKeyedOperation(call, keyed));
  if (!first)
    throw new Error('Bug: a write was neither accepted nor found by its idempotency key.');
  return first;
}

/** Returns the result of a write that another call runs. If it is synchronous, it waits for its outcome. */
async function resultOfOtherCall(
  call: Call,
  { mode, batch }: WriteInput,
  operation: Row<'Operation'>,
): Promise<WriteOutcome> {
  if (mode === 'ASYNCHRONOUS') return acceptedResult(operation);
  return awaitResult(call, { operation, isBatch: batch != null });
}
