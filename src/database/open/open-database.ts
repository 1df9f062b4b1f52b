/** Opens the database: embedded PGlite in the data folder, or any PostgreSQL. */
import type { Log } from '../../kernel/log.ts';
import { type Meters, NO_METERS } from '../../kernel/meters.ts';
import type { Config } from '../../settings/config.ts';
import type { Database } from './database.ts';
import { openEmbedded } from './open-embedded.ts';
import { openPostgres } from './open-postgres.ts';

/** Opens the database and applies pending migrations. */
export async function openDatabase(
  config: Config,
  log: Log,
  meters: Meters = NO_METERS,
): Promise<Database> {
  return config.DATABASE_URL
    ? openPostgres(config, { log, meters })
    : openEmbedded(config.DATA_DIR, { log, meters });
}
