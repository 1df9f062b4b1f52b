/**
 * Distributes the tables of a database on one server over the nodes of its cluster, while no gateway runs: `npm run
 * distribute`. One transaction distributes all tables, so the command can be repeated after a failure.
 */
import { parseArgs } from 'node:util';
import { openTarget } from '../backup/source-and-target.ts';
import { type ClusterSchema, findClusterSchema } from '../database/cluster/cluster.ts';
import type { OpenDatabaseSession } from '../database/connect/sessions/database-session.ts';
import { migrate } from '../database/migrate/migrate.ts';
import { StartRefused } from '../kernel/errors.ts';
import { createLog } from '../kernel/log.ts';
import { readConfig } from '../settings/config.ts';
import { runCommand } from './run-command.ts';

const USAGE = 'Usage: DATABASE_URL=postgresql://… npm run distribute';

await runCommand(USAGE, async () => {
  parseArgs({ options: {} });
  return distribute;
});

async function distribute(): Promise<void> {
  const url = readConfig(process.env).DATABASE_URL?.reveal();
  if (!url) throw new StartRefused('Set DATABASE_URL: the embedded database has no other nodes.');
  await using target = await openTarget(url, createLog('error'));
  await target.inSession(getClusterSchema);
  if (await target.isInUse())
    throw new StartRefused('A gateway is running on the database: stop it first.');
  await migrate(target.server, createLog('error'));
  await target.inSession(async (session) => {
    const schema = await getClusterSchema(session);
    await schema.distribute(({ table, placement, durationMs, number, count }) => {
      const seconds = (durationMs / 1_000).toFixed(1);
      console.log(`${number} of ${count}: ${table}, ${placement}, ${seconds} s`);
    });
    console.log('All tables are distributed.');
  });
}

async function getClusterSchema(session: OpenDatabaseSession): Promise<ClusterSchema> {
  const schema = await findClusterSchema(session);
  if (!schema) {
    throw new StartRefused('The database is not the coordinator of a cluster: see docs/scale.md.');
  }
  return schema;
}
