/** Checks at the start that no key is missing. Without the key of the stored secrets, all work would fail. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import type { Database } from '../../database/database.ts';
import { DATABASE_FOLDER } from '../../database/embedded/data-folder.ts';
import { withoutProject } from '../../database/projects/all-projects.ts';
import type { RunQuery } from '../../database/rows.ts';
import { StartRefused } from '../../errors.ts';
import type { Vault } from '../../secrets.ts';
import { hasLocalIssuer, LOCAL_ISSUER, LOCAL_ISSUER_FILE } from '../viewer/bearer.ts';
import { listSealedColumns } from './re-encryption.ts';

/** The number of projects to search for the newest secrets. A database may have 100,000 projects. */
const SEARCHED_PROJECTS = 1_000;

/**
 * Throws StartRefused if the key of the newest secret of a column is missing. A null `vault` means that there is no
 * key.
 */
export async function refuseMissingKey(query: RunQuery, vault: Vault | null): Promise<void> {
  for (const { table, column } of listSealedColumns()) {
    const [newestSecret] = await query<{ sealed: string }>(
      withoutProject(
        'the newest secret of the database',
        `select secret."sealed" from (select "id" from "Project" order by "id" desc limit ${SEARCHED_PROJECTS}) project
       cross join lateral (
         select "id", "${column}" as "sealed" from "${table}"
         where "projectId" = project."id" and "${column}" like 'v1.%' order by "id" desc limit 1) secret
       order by secret."id" desc limit 1`,
      ),
      [],
    );
    if (!newestSecret || vault?.hasKeyOf(newestSecret.sealed)) continue;
    throw new StartRefused(
      'The secrets of this database are encrypted with a key that is missing. Add it to ENCRYPTION_KEY or ENCRYPTION_KEYS_RETIRED, or restore the file encryption-keys of DATA_DIR.',
    );
  }
}

/**
 * Throws StartRefused if the local issuer's key is missing: a new key would invalidate the tokens of all builders.
 * Checks only a data folder that contains the database. Other data folders create keys of their own.
 */
export async function refuseMissingIssuerKey(
  config: Config,
  { prisma }: Pick<Database, 'prisma'>,
): Promise<void> {
  const { DATABASE_URL, DATA_DIR } = config;
  const path = join(DATA_DIR, LOCAL_ISSUER_FILE);
  const hasDatabase = !DATABASE_URL && existsSync(join(DATA_DIR, DATABASE_FOLDER));
  if (!hasDatabase || !hasLocalIssuer(config) || existsSync(path)) return;
  const hasBuilder = await prisma.builder.findFirst({
    where: { idpProvider: LOCAL_ISSUER },
    select: { id: true },
  });
  if (!hasBuilder) return;
  throw new StartRefused(
    `${path} is missing. It contains the key that signed the bearer tokens of this database's builders. Restore it from a backup. If it is lost, \`npm run token\` creates a new one, and tokens signed with the old key are rejected.`,
  );
}
