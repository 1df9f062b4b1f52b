/** Writes of records to a provider: requests and answers. */
import type { VersionedTarget } from '../../database/reads/write-target.ts';
import type { Row } from '../../database/rows.ts';
import { DomainError } from '../../errors.ts';
import type { Call } from '../call.ts';
import { openProjectMutation } from '../declared-mutation.ts';
import { refuseIfBacklogged } from '../event/delivery-backlog.ts';
import type { OpenedInput } from '../opened-input.ts';
import { orEndUser } from '../viewer/needs.ts';
import { answerInTime, answerNow, type WriteAnswer } from './write/answer.ts';
import { collectWrite } from './write/auto-batch.ts';
import { findKeyedOperation, keyedInput } from './write/idempotency-key.ts';
import { type StartedWrite, startWrite, type WriteToStart } from './write/start.ts';
import { type WriteInput, writeIssues, writeRecordsInput } from './write/write-input.ts';
import {
  forgetLast,
  lastTarget,
  planWrite,
  readTarget,
  type WritePlan,
} from './write/write-plan.ts';
import { beginWrite, runToEnd } from './write/write-run.ts';

export { type WriteAnswer, writeRecordsInput };

/**
 * An asynchronous write is answered when it is stored; a synchronous one with its outcome, or when
 * the time of a mutation is nearly over, as not known yet. A provider's refusal is an outcome and no error.
 * Throws RATE_LIMITED for an asynchronous one while the project has too many pending deliveries.
 */
export const writeRecords = openProjectMutation({
  needs: orEndUser('records:write', 'WRITE_RECORDS'),
  input: writeRecordsInput,
  findings: (_call, given) => writeIssues(given),
  shortcut: writeAsBefore,
  ahead: readTarget,
  async run(call, opened, project, read): Promise<WriteAnswer> {
    const keyed = opened.issues.length > 0 ? null : keyedInput(call, project.id, opened.parsed());
    const earlier = keyed && (await findKeyedOperation(call, keyed));
    if (earlier) return answerLater(call, opened.parsed(), earlier);
    const target = read ?? readTarget(call, project.id, opened.given);
    const plan = await planWrite(call, opened, target);
    const input = opened.parsed();
    if (input.mode === 'ASYNCHRONOUS') await refuseIfBacklogged(call, project.id);
    return startOnce(call, { input, plan, keyed });
  },
});

/** A write to where the last one went, as far as that is as it was. Null if it has to be looked at anew. */
async function writeAsBefore(
  call: Call,
  opened: OpenedInput<typeof writeRecordsInput>,
): Promise<WriteAnswer | null> {
  if (opened.issues.length > 0) return null;
  const input = opened.parsed();
  const target = lastTarget(call, input);
  // What several calls share is looked at once more.
  if (!target || input.idempotencyKey || input.autoBatchPolicy) return null;
  const plan = await planAsBefore(call, opened, target);
  const started =
    plan && (await startWrite(call, { input, plan, keyed: null, versions: target.versions }));
  if (started) return answerStarted(call, input, started);
  forgetLast(call, input, target);
  opened.forget();
  return null;
}

/** Null for what is refused by what is known: it may be possible by now. */
async function planAsBefore(
  call: Call,
  opened: OpenedInput<typeof writeRecordsInput>,
  target: VersionedTarget,
): Promise<WritePlan | null> {
  try {
    const plan = await planWrite(call, opened, target);
    const isLater = opened.parsed().mode === 'ASYNCHRONOUS';
    if (isLater) await refuseIfBacklogged(call, target.project.id);
    return plan;
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}

async function startOnce(call: Call, write: WriteToStart): Promise<WriteAnswer> {
  const { input } = write;
  if (input.autoBatchPolicy) {
    return answerLater(
      call,
      input,
      (await collectWrite(call, write)) ?? (await firstOf(call, write)),
    );
  }
  const started = await startWrite(call, write);
  if (!started) return answerLater(call, input, await firstOf(call, write));
  return answerStarted(call, input, started);
}

async function answerStarted(
  call: Call,
  input: WriteInput,
  started: StartedWrite,
): Promise<WriteAnswer> {
  const { operation, claim } = started;
  if (!claim) {
    await beginWrite(call, started);
    return answerNow(operation);
  }
  const running = runToEnd(call, claim);
  return answerInTime(call, { operation, isBatch: input.batch != null, running });
}

/** The operation of the call that has taken the idempotency key. */
async function firstOf(call: Call, { keyed }: WriteToStart): Promise<Row<'Operation'>> {
  const first = keyed && (await findKeyedOperation(call, keyed));
  if (!first) throw new Error('The write was neither accepted nor done before.');
  return first;
}

/** Of a write that this call doesn't run itself: a synchronous one is waited for. */
async function answerLater(
  call: Call,
  { mode, batch }: WriteInput,
  operation: Row<'Operation'>,
): Promise<WriteAnswer> {
  if (mode === 'ASYNCHRONOUS') return answerNow(operation);
  return answerInTime(call, { operation, isBatch: batch != null });
}
