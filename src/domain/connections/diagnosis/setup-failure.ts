/**
 * Mistakes in a project's setup that keep customers from connecting accounts. Only the builder can correct them, so the
 * pages for customers hide them, and the builder gets an event and a row.
 */
import { z } from 'zod';
import { run, sql } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction } from '../../../database/transactions/transaction.ts';
import { recordEvent } from '../../../events/record.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { nameInput, printText, type Text } from '../../../kernel/text.ts';
import { HOUR_MS } from '../../../work/durations.ts';
import { load } from '../../access/batched.ts';
import type { Call, ProjectCall, RowServices } from '../../access/call.ts';
import { read } from '../../access/declared-read.ts';
import { type Batch, byId } from '../../access/scope.ts';
import { resource } from '../../base/resource.ts';
import { printedColumn, shortenText, toTextColumn } from '../../base/stored-text.ts';
import { findPermittedProvider } from '../provider/provider.ts';

export type SetupFailure = Row<'SetupFailure'>;

export const setupFailureResource = resource(
  'SetupFailure',
  "A mistake in the project's setup that kept customers from connecting accounts of a provider or from installing.",
  {
    provider: z.string().describe('The name of the provider.'),
    error: printedColumn(
      'error',
      z.string().describe('A human-readable description of the latest mistake in the setup.'),
    ),
    count: z.int().describe('The number of failures since `firstFailureTime`.'),
    firstFailureTime: z
      .date()
      .describe('When the count began: at most an hour before `lastFailureTime`.'),
    lastFailureTime: z.date().describe('When a mistake last kept a customer from connecting.'),
  },
);

/** A person checks the providers one by one, so a longer list would be of no use. */
const FAILURES_MAX = 100;

export const listSetupFailures = read(
  'read',
  `Lists mistakes in the setup that kept customers from connecting: the latest mistake of each provider, at most ${FAILURES_MAX}, newest first.`,
  (call: Call, { id: projectId }: Row<'Project'>): Promise<SetupFailure[]> =>
    load(call, loadSetupFailures, projectId),
);

const loadSetupFailures: Batch<string, SetupFailure[]> = async ({ database }, projectIds) => {
  const failures = await database.reads.find('SetupFailure', { projectId: [...projectIds] });
  const newestFirst = failures.toSorted(
    (a, b) => b.lastFailureTime.getTime() - a.lastFailureTime.getTime(),
  );
  const failuresByProject = Map.groupBy(newestFirst, ({ projectId }) => projectId);
  return projectIds.map(
    (projectId) => failuresByProject.get(projectId)?.slice(0, FAILURES_MAX) ?? [],
  );
};

/** Matches inputs that customers enter or that their tokens determine. The builder determines all other inputs. */
const CUSTOMER_INPUT =
  /^(?:apiKey|basicAuth|customAuth|oauth2\w+|providerWorkspaceRef|providerMetadata|groupRef|consumerRef|connectionId)$/;

/** True if the error names an input that customers can't correct. */
export function isSetupProblem(error: unknown): error is DomainError {
  const issues = error instanceof DomainError ? (error.issues ?? []) : [];
  return issues.some(({ path: [member] }) => !CUSTOMER_INPUT.test(String(member)));
}

/** A request that connects an account or installs an integration. Errors have paths in `input`. */
interface SetupRequest {
  projectId: string;
  provider: string;
  input: z.ZodObject;
}

/** Runs `work`, and throws its error. If the error shows an end user a mistake in the setup, records the failure first. */
export async function runRecordingSetupFailures<R>(
  call: ProjectCall,
  request: SetupRequest,
  work: () => Promise<R>,
): Promise<R> {
  try {
    return await work();
  } catch (error) {
    if (isSetupProblem(error)) await recordForEndUser(call, request, error);
    throw error;
  }
}

async function recordForEndUser(
  call: ProjectCall,
  { projectId, provider, input }: SetupRequest,
  { detail }: DomainError,
): Promise<void> {
  const { viewer } = call;
  if (viewer.kind !== 'END_USER') return;
  // Without this check, end users could add a row for every provider.
  if (!(await findPermittedProvider(call, provider))) return;
  const [[group], [consumer]] = await Promise.all([
    byId('Group')(call, [viewer.groupId]),
    byId('Consumer')(call, [viewer.consumerId]),
  ]);
  const customer = group && consumer ? { group, consumer } : null;
  const error = nameInput(detail, input.meta()?.id);
  await recordSetupFailure(call, { projectId, provider, customer, error });
}

interface SetupFailureToRecord {
  projectId: string;
  provider: string;
  /** Null if the group or the consumer does not exist yet. */
  customer: { group: Row<'Group'>; consumer: Row<'Consumer'> } | null;
  error: Text;
}

const ERROR_LENGTH_MAX = 500;

/**
 * Stores the failure. Only the first failure of a count records an event, so that customers can't cause many events.
 */
export async function recordSetupFailure(
  { database, now }: RowServices,
  failure: SetupFailureToRecord,
): Promise<void> {
  const { projectId, provider, customer } = failure;
  const error = shortenText(failure.error, ERROR_LENGTH_MAX);
  await inTransaction(database, async (tx) => {
    const [row] = await run(
      tx,
      countFailure({ projectId, provider, error: toTextColumn(error), time: now() }),
    );
    if (row?.count !== 1) return;
    await recordEvent(tx, {
      projectId,
      eventType: 'SETUP_FAILED',
      data: {
        projectId,
        provider,
        ...(customer && {
          groupRef: customer.group.groupRef,
          consumerRef: customer.consumer.consumerRef,
        }),
        error: printText(error),
      },
      subject: customer && { groupId: customer.group.id, consumerId: customer.consumer.id },
    });
  });
}

/** Counts failures for an hour from the first one. A later failure begins a new count. */
const countFailure = ({
  projectId,
  provider,
  error,
  time,
}: Pick<SetupFailure, 'projectId' | 'provider' | 'error'> & { time: Date }) => {
  const isCounted = sql`stored."firstFailureTime" > ${new Date(time.getTime() - HOUR_MS)}`;
  return sql<Pick<SetupFailure, 'count'>>`
    insert into "SetupFailure" as stored ("projectId", "provider", "error", "count", "firstFailureTime", "lastFailureTime")
    values (${projectId}, ${provider}, ${error}, 1, ${time}, ${time})
    on conflict ("projectId", "provider") do update set
      "error" = excluded."error",
      "count" = case when ${isCounted} then stored."count" + 1 else 1 end,
      "firstFailureTime" = case when ${isCounted} then stored."firstFailureTime" else excluded."firstFailureTime" end,
      "lastFailureTime" = excluded."lastFailureTime"
    returning "count"`;
};
