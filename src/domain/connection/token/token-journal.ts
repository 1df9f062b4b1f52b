/**
 * A journal of new refresh tokens, in files. A refresh token may work only once, and between the provider's response and
 * the commit only this process has the new token. If the process crashes before the commit, its next start stores the
 * entry of the journal (docs/decisions/006-refresh-tokens.md).
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { SealedLocation } from '../../../secrets.ts';
import { writeFileAtomically } from '../../atomic-file.ts';
import type { Services } from '../../call.ts';
import { type Credentials, credentialsSchema } from '../credentials.ts';
import type { ConnectionKey } from '../session/stored-credentials.ts';

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
  mkdirSync(toFolder(journal), { recursive: true, mode: 0o700 });
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
export function findInJournal(journal: Journal, { id }: Pick<ConnectionKey, 'id'>): Renewal | null {
  const path = toFile(journal, id);
  return existsSync(path) ? readEntry(journal, path) : null;
}

/** Lists the ids of connections that have an entry. */
export function listJournal(journal: Journal): string[] {
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
