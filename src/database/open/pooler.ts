/**
 * Supports a pooler in front of PostgreSQL that assigns a connection to each transaction, like PgBouncer in transaction
 * mode. Session state bypasses it: LISTEN, the lock of the process, migrations, and limits that a session sets.
 */
import { randomUUID } from 'node:crypto';
import { StartRefused } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { isCluster } from '../cluster/cluster.ts';
import {
  type OpenDatabaseSession,
  openDatabaseSession,
  type Pooler,
  type Server,
} from '../connect/sessions/database-session.ts';

/**
 * Detects what the pooler supports. Throws StartRefused if it connects to a different database than the direct
 * URL.
 */
export async function detectPooler(
  { pooled, direct }: { pooled: Server; direct: Server },
  log: Log,
): Promise<Pooler> {
  const name = 'integration-gateway start';
  // Prepared statements are not used until the probe below has shown that the pooler keeps them.
  const session = await openDatabaseSession({
    ...pooled,
    pooler: { keepsStatements: false },
    name,
  });
  await using sessions = new AsyncDisposableStack();
  sessions.defer(() => session.end());
  const directSession = await openDatabaseSession({ ...direct, name });
  sessions.defer(() => directSession.end());
  if ((await findDatabaseId(session)) !== (await findDatabaseId(directSession))) {
    throw new StartRefused('DATABASE_LISTEN_URL and DATABASE_URL refer to different databases.');
  }
  const pooler = { keepsStatements: await keepsStatements(session) };
  const missingTimeouts = await listSettings(session, MISSING_TIMEOUTS);
  if (missingTimeouts.length > 0)
    log.warn({ settings: missingTimeouts }, 'database.limits_refused');
  const unsetSettings = await listUnsetPlannerSettings(session, pooler);
  if (unsetSettings.length > 0)
    log.warn({ settings: unsetSettings }, 'database.planner_settings_refused');
  return pooler;
}

/** Returns equal values on two connections only if both are to the same database of the same server. */
async function findDatabaseId(session: OpenDatabaseSession): Promise<string | undefined> {
  const { rows } = await session.query<{ databaseId: string }>(
    `select oid || ' since ' || pg_postmaster_start_time() at time zone 'UTC' as "databaseId"
     from pg_database where datname = current_database()`,
  );
  return rows[0]?.databaseId;
}

/**
 * Conditions for settings that are missing on the role (`ALTER ROLE … SET`). A pooler refuses settings as connection
 * parameters: the timeouts, and the planner settings that `initializeSession` sets. The coordinator of a cluster must plan
 * with the values (docs/decisions/049-statements-are-planned-once.md).
 */
const MISSING_TIMEOUTS = `setting = '0' and name in ('statement_timeout', 'idle_in_transaction_session_timeout')`;
const WRONG_PLANNER_SETTINGS = `name in ('enable_seqscan', 'jit') and setting <> 'off'`;
const WRONG_PLANNER_SETTINGS_WITH_STATEMENTS = `${WRONG_PLANNER_SETTINGS} or name = 'plan_cache_mode' and setting <> 'force_generic_plan'`;

/** Returns the names of planner settings that the session lacks. */
export async function listUnsetPlannerSettings(
  session: Pick<OpenDatabaseSession, 'query'>,
  { keepsStatements }: { keepsStatements: boolean },
): Promise<string[]> {
  const plansOnce = keepsStatements && !(await isCluster(session));
  return listSettings(
    session,
    plansOnce ? WRONG_PLANNER_SETTINGS_WITH_STATEMENTS : WRONG_PLANNER_SETTINGS,
  );
}

async function listSettings(
  session: Pick<OpenDatabaseSession, 'query'>,
  condition: string,
): Promise<string[]> {
  const { rows } = await session.query<{ name: string }>(
    `select name from pg_settings where ${condition} order by name`,
  );
  return rows.map(({ name }) => name);
}

/**
 * True if the pooler supports prepared statements: it renames them on each server connection. A pooler without support
 * passes names through, and its other server connections do not know them.
 */
async function keepsStatements(session: OpenDatabaseSession): Promise<boolean> {
  const name = `probe ${randomUUID()}`;
  await session.query('begin');
  await session.query({ name, text: 'select 1' });
  const { rows } = await session.query('select 1 from pg_prepared_statements where name = $1', [
    name,
  ]);
  const isPassedOn = rows.length > 0;
  if (isPassedOn) await session.query(`deallocate "${name}"`);
  await session.query('commit');
  return !isPassedOn;
}
