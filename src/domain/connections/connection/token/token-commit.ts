/**
 * Stores the tokens of a refresh. They replace only the credentials that were refreshed, never newer credentials. A
 * refresh token may work only once, and between the provider's response and the commit only this process has the new
 * token. It is therefore also written to a journal of files. If the process crashes before the commit, its next start
 * stores the entry of the journal (docs/decisions/006-refresh-tokens.md).
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { EventRow } from '../../../../database/statements/hot/append-events.ts';
import { STORE_TOKENS } from '../../../../database/statements/hot/store-tokens.ts';
import {
  type BindInput,
  buildStatement,
  statements,
} from '../../../../database/statements/statements.ts';
import type { Row } from '../../../../database/statements/tables.ts';
import { createEventRow } from '../../../../events/record.ts';
import { pickSubject, type Subject } from '../../../../events/subject.ts';
import { writeFileAtomically } from '../../../../kernel/atomic-file.ts';
import type { SealedLocation } from '../../../../kernel/secrets.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import { retryUpTo } from '../../../../work/backoff.ts';
import { MINUTE_MS } from '../../../../work/durations.ts';
import type { CoreServices, Services } from '../../../access/call.ts';
import { toConnectionFields } from '../connection.ts';
import {
  type ConnectionKey,
  type Credentials,
  credentialsSchema,
  sealCredentials,
  type UnsealedCredentials,
} from '../credentials.ts';
import {
  areCredentialsEqual,
  createDeletedConnectionError,
  unsealCredentials,
} from '../session/stored-credentials.ts';
import { findRefreshDueTime, findTokenExpireTime } from './token.ts';

/** The tries span the time that a database takes to restart. */
const TRIES = { backoff: { firstMs: 200, maxMs: 3_000 }, triesMax: 6 };

/** The shortest time between a refresh and the next one by a worker. It bounds the refreshes of short-lived tokens. */
const REFRESH_GAP_MS = MINUTE_MS;

interface Commit extends Renewal {
  /** If true, records the event CONNECTION_REFRESHED. The first token is a refresh only if a caller requested it. */
  isRefresh: boolean;
}

/** Stores the tokens. Returns null if the connection has newer credentials, which make these tokens obsolete. */
export function commitRenewal(
  services: CoreServices,
  commit: Commit,
): Promise<UnsealedCredentials | null> {
  const isFinal = (error: unknown) => error instanceof ProviderError;
  return retryUpTo(() => storeTokens(services, commit), { ...TRIES, isFinal });
}

/** Stores all entries that an earlier process left in the journal. Must run before any token is used. */
export async function replayTokenJournal(services: CoreServices): Promise<void> {
  for (const id of listJournal(services)) {
    try {
      await replayEntry(services, id);
    } catch (error) {
      // The next refresh of the connection retries the entry.
      services.log.error({ connectionId: id, error: String(error) }, 'token_journal.not_stored');
    }
  }
}

/** Stores the journal entry of a connection, if this or an earlier process left one. */
export async function replayEntry(services: CoreServices, connectionId: string): Promise<void> {
  const renewal = findReadableEntry(services, connectionId);
  if (!renewal) return;
  try {
    await commitRenewal(services, { ...renewal, isRefresh: true });
    services.log.warn({ connectionId }, 'token_journal.replayed');
  } catch (error) {
    // The connection was deleted, so that its tokens are not needed.
    if (!(error instanceof ProviderError)) throw error;
  }
  removeFromJournal(services, renewal.connection);
}

/** Returns null for an unreadable entry, which remains in the journal for a process that has its key. */
function findReadableEntry(services: CoreServices, connectionId: string): Renewal | null {
  try {
    return findInJournal(services, { id: connectionId });
  } catch (error) {
    services.log.error({ connectionId, error: String(error) }, 'token_journal.unreadable');
    return null;
  }
}

async function storeTokens(
  services: CoreServices,
  commit: Commit,
): Promise<UnsealedCredentials | null> {
  const { connection, before, after, isRefresh } = commit;
  const { run, runShared } = services.database;
  const now = services.now();
  const [row] = await run(NAMED_CONNECTION, connection);
  if (!row) throw createDeletedConnectionError();
  const currentCredentials = unsealCredentials(services, row);
  if (areCredentialsEqual(currentCredentials.credentials, after)) return currentCredentials;
  if (!areCredentialsEqual(currentCredentials.credentials, before)) return null;
  const sealed = sealCredentials(services, row, after);
  if (currentCredentials.sealed === null || sealed === null) return null;
  const storedRow = await runShared(STORE_TOKENS, {
    id: row.id,
    projectId: row.projectId,
    heldSealed: currentCredentials.sealed,
    credentialsSealed: sealed,
    tokenExpireTime: findTokenExpireTime(after),
    refreshDueTime: findRefreshDueTime(after, new Date(now.getTime() + REFRESH_GAP_MS)),
    now,
    event: isRefresh ? createRefreshedEvent(row) : null,
  });
  // Another process encrypted the credentials with a newer key in the meantime. `commitRenewal` retries.
  if (!storedRow) throw new Error('The credentials were re-encrypted at the same time.');
  const { credentialTargets } = currentCredentials;
  return {
    sealed,
    credentials: after,
    credentialTargets,
    status: 'CREATED',
    refreshRejectedTime: null,
  };
}

/** Selects a connection with the names of its group and consumer, which its events include. */
const NAMED_CONNECTION = buildStatement((bind: BindInput<ConnectionKey>) =>
  statements
    .selectFrom('Connection')
    .innerJoin('Group', (join) =>
      join
        .onRef('Group.projectId', '=', 'Connection.projectId')
        .onRef('Group.id', '=', 'Connection.groupId'),
    )
    .innerJoin('Consumer', (join) =>
      join
        .onRef('Consumer.projectId', '=', 'Connection.projectId')
        .onRef('Consumer.id', '=', 'Connection.consumerId'),
    )
    .select(['Connection.id', 'Connection.projectId', 'Connection.groupId'])
    .select([
      'Connection.consumerId',
      'provider',
      'credentialsSealed',
      'credentialTargets',
      'status',
      'refreshRejectedTime',
    ])
    .select(['groupRef', 'consumerRef', 'consumerName'])
    .where('Connection.projectId', '=', bind('projectId'))
    .where('Connection.id', '=', bind('id')),
);

type NamedConnection = Pick<Row<'Connection'>, 'id' | 'projectId' | 'provider'> &
  Subject &
  Pick<Row<'Group'>, 'groupRef'> &
  Pick<Row<'Consumer'>, 'consumerRef' | 'consumerName'>;

function createRefreshedEvent(row: NamedConnection): EventRow {
  return createEventRow({
    projectId: row.projectId,
    connectionId: row.id,
    eventType: 'CONNECTION_REFRESHED',
    data: toConnectionFields({ ...row, group: row, consumer: row }),
    subject: pickSubject(row),
  });
}

const SUFFIX = '.json';

const entrySchema = z.object({ id: z.string(), projectId: z.string(), sealed: z.string() });
const renewalSchema = z.object({ before: credentialsSchema, after: credentialsSchema });

/** The credentials of a connection before and after a refresh. */
export interface Renewal {
  connection: ConnectionKey;
  before: Credentials;
  after: Credentials;
}

type Journal = Pick<Services, 'config' | 'vault'>;

/** Writes an entry. It is on disk when the function returns. */
export function writeJournal(journal: Journal, { connection, before, after }: Renewal): void {
  const { id, projectId } = connection;
  const sealed = journal.vault.seal(
    JSON.stringify({ before, after }),
    toSealedLocation(connection),
  );
  writeFileAtomically(toFile(journal, id), JSON.stringify({ id, projectId, sealed }));
}

export function removeFromJournal(journal: Journal, { id }: Pick<ConnectionKey, 'id'>): void {
  rmSync(toFile(journal, id), { force: true });
}

/** Returns the entry of a connection. Null if there is none. */
function findInJournal(journal: Journal, { id }: Pick<ConnectionKey, 'id'>): Renewal | null {
  const path = toFile(journal, id);
  return existsSync(path) ? readEntry(journal, path) : null;
}

/** Lists the ids of connections that have an entry. */
function listJournal(journal: Journal): string[] {
  if (!existsSync(toFolder(journal))) return [];
  const names = readdirSync(toFolder(journal));
  return names.filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length));
}

function readEntry({ vault }: Journal, path: string): Renewal {
  const { id, projectId, sealed } = entrySchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const connection = { id, projectId };
  const text = vault.open(sealed, toSealedLocation(connection));
  return { connection, ...renewalSchema.parse(JSON.parse(text)) };
}

function toFolder({ config }: Journal): string {
  return join(config.DATA_DIR, 'token-journal');
}

function toFile(journal: Journal, connectionId: string): string {
  return join(toFolder(journal), `${connectionId}${SUFFIX}`);
}

function toSealedLocation({ id, projectId }: ConnectionKey): SealedLocation {
  return { table: 'TokenJournal', column: 'sealed', row: id, projectId };
}
