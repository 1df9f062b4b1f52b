/** Stores what a refresh gave, in place of the very credentials that were refreshed and of no others. */
import { inTransaction } from '../../../database/transaction.ts';
import { recordEvent } from '../../../events/record.ts';
import { subjectOf } from '../../../events/subject.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { withTries } from '../../../work/backoff.ts';
import type { Services } from '../../call.ts';
import { connectionFields } from '../connection-events.ts';
import { sealCredentials, tokenExpireTimeOf } from '../credentials.ts';
import { areSame, type HeldCredentials, readCredentials } from '../session/held-credentials.ts';
import { findInJournal, listJournal, type Renewal, removeFromJournal } from './token-journal.ts';
import { NO_LEASE } from './token-lease.ts';

/** Between tries: a database that restarts is back by then. */
const TRIES = { backoff: { firstMs: 200, maxMs: 3_000 }, triesMax: 6 };

export interface Commit extends Renewal {
  /** The first token is no refresh, unless a caller requested one. */
  isRefresh: boolean;
}

/** Null if the connection has other credentials by now: these are no longer of use. */
export function commitRenewal(services: Services, commit: Commit): Promise<HeldCredentials | null> {
  const isFinal = (error: unknown) => error instanceof ProviderError;
  return withTries(() => store(services, commit), { ...TRIES, isFinal });
}

/** Stores what an earlier process left in its journal. Call it before anything uses a token. */
export async function replayTokenJournal(services: Services): Promise<void> {
  for (const id of listJournal(services)) {
    try {
      await replayEntry(services, id);
    } catch (error) {
      // It is tried again before the connection's next refresh.
      services.log.error({ connectionId: id, error: String(error) }, 'token_journal.not_stored');
    }
  }
}

/** What this process or an earlier one could not store yet, if there is any. */
export async function replayEntry(services: Services, connectionId: string): Promise<void> {
  const renewal = findEntry(services, connectionId);
  if (!renewal) return;
  try {
    await commitRenewal(services, { ...renewal, isRefresh: true });
    services.log.warn({ connectionId }, 'token_journal.replayed');
  } catch (error) {
    // The connection is gone, and its tokens with it.
    if (!(error instanceof ProviderError)) throw error;
  }
  removeFromJournal(services, renewal.connection);
}

/** An entry that can't be read stays for a process that has its key, and stops nothing. */
function findEntry(services: Services, connectionId: string): Renewal | null {
  try {
    return findInJournal(services, { id: connectionId });
  } catch (error) {
    services.log.error({ connectionId, error: String(error) }, 'token_journal.unreadable');
    return null;
  }
}

async function store(services: Services, commit: Commit): Promise<HeldCredentials | null> {
  const { connection, before, after } = commit;
  const { id, projectId } = connection;
  const held = await readCredentials(services, connection);
  if (areSame(held.credentials, after)) return held;
  if (!areSame(held.credentials, before)) return null;
  const sealed = sealCredentials(services, connection, after);
  await inTransaction(services.database, async (tx) => {
    const { group, consumer, ...row } = await tx.connection.update({
      // Another process may seal the same with a newer key in between: then it is tried again.
      where: { projectId_id: { projectId, id }, credentialsSealed: held.sealed },
      data: {
        credentialsSealed: sealed,
        tokenExpireTime: tokenExpireTimeOf(after),
        refreshRetryTime: null,
        status: 'CREATED',
        updateTime: services.now(),
        ...NO_LEASE,
      },
      include: { group: true, consumer: true },
      omit: { credentialsSealed: true },
    });
    if (!commit.isRefresh) return;
    await recordEvent(tx, {
      projectId: row.projectId,
      connectionId: row.id,
      eventType: 'CONNECTION_REFRESHED',
      data: connectionFields({ ...row, group, consumer }),
      subject: subjectOf(row),
    });
  });
  return { sealed, credentials: after, isWorking: false };
}
