/**
 * Spreads the tables of a database that has grown up on one server over the nodes of its Citus cluster: `npm run distribute`,
 * while no gateway runs. All of it happens or nothing; a second run does what is missing.
 */
import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import { openTarget } from '../copies/database-place.ts';
import {
  distribute,
  freeLocalRows,
  isCitus,
  prepareSession,
} from '../database/citus/spread-tables.ts';
import { tablesToPlace } from '../database/citus/table-places.ts';
import { migrate } from '../database/migrating/migrate.ts';
import { StartRefused } from '../errors.ts';
import { createLog } from '../log.ts';
import { runCommand } from './run-command.ts';

const USAGE = 'Usage: DATABASE_URL=postgresql://… npm run distribute';

await runCommand(USAGE, async () => {
  parseArgs({ options: {} });
  return spread;
});

async function spread(): Promise<void> {
  const url = readConfig(process.env).DATABASE_URL?.reveal();
  if (!url) throw new StartRefused('Set DATABASE_URL: the embedded database has no other nodes.');
  await using place = await openTarget(url, createLog('error'));
  await place.inSession(async (session) => {
    if (!(await isCitus(session))) {
      throw new StartRefused('The database has no extension citus: see docs/scale.md.');
    }
  });
  if (await place.isInUse())
    throw new StartRefused('A gateway runs on the database: stop it first.');
  await migrate(place.server, createLog('error'));
  await place.inSession(async (session) => {
    await prepareSession(session);
    const count = tablesToPlace().length;
    let done = 0;
    await session.query('begin');
    await distribute(session, ({ table, place, durationMs }) => {
      done += 1;
      console.log(`${done} of ${count}: ${table}, ${place}, ${(durationMs / 1_000).toFixed(1)} s`);
    });
    await session.query('commit');
    // Until here the coordinator has kept the rows, too.
    await freeLocalRows(session);
    console.log('The tables have their places.');
  });
}
