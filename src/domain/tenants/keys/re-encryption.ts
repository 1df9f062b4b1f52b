/**
 * Re-encrypts stored secrets with the current key, and checks at the start that no key is missing. Without the key of
 * the stored secrets, all work would fail.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE_FOLDER } from '../../../database/connect/embedded/data-folder.ts';
import { Prisma } from '../../../database/generated/client.ts';
import type { Database } from '../../../database/open/database.ts';
import { withoutProject } from '../../../database/statements/projects/all-projects.ts';
import { readRowsOfAllProjects } from '../../../database/statements/projects/rows-of-all-projects.ts';
import { type RunStatement, sqlStatement } from '../../../database/statements/statements.ts';
import { StartRefused } from '../../../kernel/errors.ts';
import type { Vault } from '../../../kernel/secrets.ts';
import type { Config } from '../../../settings/config.ts';
import { hasLocalIssuer, LOCAL_ISSUER, LOCAL_ISSUER_FILE } from '../../access/viewer/bearer.ts';

interface SealedRow {
  id: string;
  projectId: string;
  sealed: string;
}

/** Lists the columns with encrypted values. Their names end in `Sealed`. */
export function listSealedColumns(): { table: Prisma.ModelName; column: string }[] {
  return Object.values(Prisma.ModelName).flatMap((table) =>
    Object.values<string>(Prisma[`${table}ScalarFieldEnum`])
      .filter((column) => column.endsWith('Sealed'))
      .map((column) => ({ table, column })),
  );
}

/**
 * Encrypts every secret with the current key, so that older keys can be removed. Returns the number of changed secrets.
 * Safe while the server runs and after a crash: it skips values that use the current key or that changed after they
 * were read.
 */
export async function reencrypt(run: RunStatement, vault: Vault): Promise<number> {
  let changedCount = 0;
  for (const { table, column } of listSealedColumns()) {
    const sealedRows = readRowsOfAllProjects<SealedRow>(run, {
      reason: 'secrets of every project are encrypted again',
      table,
      columns: `"${column}" as sealed`,
      condition: `"${column}" is not null`,
    });
    for await (const { id, projectId, sealed } of sealedRows) {
      if (vault.isCurrent(sealed)) continue;
      const location = { table, column, row: id, projectId };
      await run(
        sqlStatement(`update "${table}" set "${column}" = $1
         where "projectId" = $2 and "id" = $3 and "${column}" = $4`),
        [vault.seal(vault.open(sealed, location), location), projectId, id, sealed],
      );
      changedCount += 1;
    }
  }
  return changedCount;
}

/** The number of projects to search for the newest secrets. A database may have 100,000 projects. */
const SEARCHED_PROJECTS = 1_000;

/** Selects the newest secret of each column. */
const SELECT_NEWEST_SECRETS = withoutProject<{ sealed: string }>(
  'the newest secrets of the database',
  listSealedColumns()
    .map(
      ({ table, column }) =>
        `(select secret."sealed" from (select "id" from "Project" order by "id" desc limit ${SEARCHED_PROJECTS}) project
         cross join lateral (
           select "id", "${column}" as "sealed" from "${table}"
           where "projectId" = project."id" and "${column}" like 'v1.%' order by "id" desc limit 1) secret
         order by secret."id" desc limit 1)`,
    )
    .join(' union all '),
);

/**
 * Throws StartRefused if the key of the newest secret of a column is missing. A null `vault` means that there is no
 * key.
 */
export async function refuseMissingKey(run: RunStatement, vault: Vault | null): Promise<void> {
  const newestSecrets = await run(SELECT_NEWEST_SECRETS, []);
  if (newestSecrets.every(({ sealed }) => vault?.hasKeyOf(sealed))) return;
  throw new StartRefused(
    'The secrets of this database are encrypted with a key that is missing. Add it to ENCRYPTION_KEY or ENCRYPTION_KEYS_RETIRED, or restore the file encryption-keys of DATA_DIR.',
  );
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
