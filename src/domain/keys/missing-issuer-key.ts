/** Told at the start: a new key of the local issuer would turn away all builders that the one before let in. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import type { Database } from '../../database/database.ts';
import { DATABASE } from '../../database/embedded/data-folder.ts';
import { StartRefused } from '../../errors.ts';
import { hasLocalIssuer, LOCAL_ISSUER, LOCAL_ISSUER_FILE } from '../viewer/bearer.ts';

/** Of the data folder that has the database too; others begin with a key of their own. Throws StartRefused. */
export async function refuseMissingIssuerKey(
  config: Config,
  { prisma }: Pick<Database, 'prisma'>,
): Promise<void> {
  const { DATABASE_URL, DATA_DIR } = config;
  const path = join(DATA_DIR, LOCAL_ISSUER_FILE);
  const isBesideDatabase = !DATABASE_URL && existsSync(join(DATA_DIR, DATABASE));
  if (!isBesideDatabase || !hasLocalIssuer(config) || existsSync(path)) return;
  const known = await prisma.builder.findFirst({
    where: { idpProvider: LOCAL_ISSUER },
    select: { id: true },
  });
  if (!known) return;
  throw new StartRefused(
    `${path} is missing, which has signed the bearer tokens of this database's builders. Bring it back from a backup. ` +
      'If it is lost, `npm run token` makes a new one, and tokens that the old one has signed are no longer taken.',
  );
}
