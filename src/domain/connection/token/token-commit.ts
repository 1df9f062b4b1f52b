/** Stores what a refresh gave, in place of the very credentials that were refreshed and of no others. */
import type { EventRow } from '../../../database/hot/append-events.ts';
import { STORE_TOKENS } from '../../../database/hot/store-tokens.ts';
import type { Row } from '../../../database/rows.ts';
import { Kept, statements, type ValueOf } from '../../../database/statements.ts';
import { eventRow } from '../../../events/record.ts';
import { type Subject, subjectOf } from '../../../events/subject.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { withTries } from '../../../work/backoff.ts';
import type { Services } from '../../call.ts';
import { connectionFields } from '../connection.ts';
import { sealCredentials, tokenExpireTimeOf } from '../credentials.ts';
import {
  areSame,
  type ConnectionKey,
  deletedConnection,
  type UnsealedCredentials,
  unsealCredentials,
} from '../session/stored-credentials.ts';
import { findInJournal, listJournal, type Renewal, removeFromJournal } from './token-journal.ts';

/** Between tries: a database that restarts is back by then. */
const TRIES = { backoff: { firstMs: 200, maxMs: 3_000 }, triesMax: 6 };

export interface Commit extends Renewal {
  /** The first token is no refresh, unless a caller requested one. */
  isRefresh: boolean;
}

/** Null if the connection has other credentials by now: these are no longer of use. */
export function commitRenewal(
  services: Services,
  commit: Commit,
): Promise<UnsealedCredentials | null> {
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

async function store(services: Services, commit: Commit): Promise<UnsealedCredentials | null> {
  const { connection, before, after, isRefresh } = commit;
  const { changes, rows } = services.database;
  const [row] = await rows.run(NAMED_CONNECTION, connection);
  if (!row) throw deletedConnection();
  const held = unsealCredentials(services, row);
  if (areSame(held.credentials, after)) return held;
  const sealed = sealCredentials(services, row, after);
  if (!areSame(held.credentials, before) || held.sealed === null || sealed === null) return null;
  const stored = await changes.run(STORE_TOKENS, {
    id: row.id,
    projectId: row.projectId,
    heldSealed: held.sealed,
    credentialsSealed: sealed,
    tokenExpireTime: tokenExpireTimeOf(after),
    now: services.now(),
    event: isRefresh ? refreshedEvent(row) : null,
  });
  // Another process may seal the same with a newer key in between: then it is tried again.
  if (!stored) throw new Error('The credentials were sealed anew at the same time.');
  return { sealed, credentials: after, isWorking: false };
}

/** With the names of its group and its consumer, which events tell. */
const NAMED_CONNECTION = new Kept((value: ValueOf<ConnectionKey>) =>
  statements
    .selectFrom('Connection as c')
    .innerJoin('Group as g', (join) =>
      join.onRef('g.projectId', '=', 'c.projectId').onRef('g.id', '=', 'c.groupId'),
    )
    .innerJoin('Consumer as u', (join) =>
      join.onRef('u.projectId', '=', 'c.projectId').onRef('u.id', '=', 'c.consumerId'),
    )
    .select(['c.id', 'c.projectId', 'c.provider', 'c.groupId', 'c.consumerId'])
    .select(['c.credentialsSealed', 'c.status', 'g.groupRef', 'u.consumerRef', 'u.consumerName'])
    .where(
      'c.projectId',
      '=',
      value(({ projectId }) => projectId),
    )
    .where(
      'c.id',
      '=',
      value(({ id }) => id),
    ),
);

type NamedConnection = Pick<Row<'Connection'>, 'id' | 'projectId' | 'provider'> &
  Subject &
  Pick<Row<'Group'>, 'groupRef'> &
  Pick<Row<'Consumer'>, 'consumerRef' | 'consumerName'>;

function refreshedEvent(row: NamedConnection): EventRow {
  return eventRow({
    projectId: row.projectId,
    connectionId: row.id,
    eventType: 'CONNECTION_REFRESHED',
    data: connectionFields({ ...row, group: row, consumer: row }),
    subject: subjectOf(row),
  });
}
