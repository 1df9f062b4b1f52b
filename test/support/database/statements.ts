/** Records the statements that this process sends to either kind of database. */
import pg from 'pg';
import { DatabaseSession } from '../../../src/database/connect/sessions/database-session.ts';
import { isTestStatement } from './test-statements.ts';

export interface Statement {
  text: string;
  values: unknown[];
}

type Query = (this: unknown, text: unknown, values?: unknown, ...rest: unknown[]) => unknown;

/** Runs before a statement, on the connection that is about to run it. */
type BeforeStatement = (connection: unknown, statement: Statement, query: Query) => Promise<void>;

/** Runs the calls of one connection one after another, although statements may be sent to it concurrently. */
export function serialize(before: BeforeStatement): BeforeStatement {
  const turns = new WeakMap<object, Promise<void>>();
  return (connection, statement, query) => {
    const client = connection as object;
    const turn = () => before(connection, statement, query);
    const queued = (turns.get(client) ?? Promise.resolve()).then(turn);
    turns.set(
      client,
      queued.catch(() => {}),
    );
    return queued;
  };
}

interface Recording {
  statements: Statement[];
  before?: BeforeStatement;
  isIgnored: (text: string) => boolean;
}

const recordings = new Set<Recording>();

/** Distinct texts that the product has sent since the last `takeProductTexts`. */
const productTexts = new Set<string>();
/** Application names of sessions that work on whole databases: migrations and copies. */
const WHOLE_DATABASE_SESSIONS = ['integration-gateway migrations', 'integration-gateway copy'];

/**
 * Statements of background work, which run at any time: leases, the clock, connections, and
 * notifications after a commit.
 */
const BACKGROUND_STATEMENTS = [
  /SandboxLease|ServerProcess|as waiting\("index", "time"\)/,
  /select "id" from "Erasure" where "id" <> "projectId" and /,
  /from pg_dist_|join pg_dist_/,
  /^select \(extract\(epoch from clock_timestamp\(\)\)/,
  /set_config\('(tcp_user_timeout|enable_seqscan|plan_cache_mode)'/,
  /pg_advisory_lock_shared|^(un)?listen |^checkpoint|^vacuum /i,
  /^(select 1|show transaction_read_only)$/,
  /^select pg_notify\(/,
  /^select exists \(\s*select 1 from pg_locks /,
  // The catalog of a project is read again after a second.
  /^SELECT "public"\."CustomProvider"\..* WHERE "public"\."CustomProvider"\."projectId" /,
];

/**
 * Statements that authenticate a caller, whose result is cached for some time. On a cluster, the last use of
 * the API key is stored separately.
 */
export const CALLER_STATEMENTS = /key\."hash" = |"lastUsedTime" = \$/;

const isBackgroundStatement = (text: string) =>
  BACKGROUND_STATEMENTS.some((pattern) => pattern.test(text));

// The pool, Prisma's adapter and transactions send all their statements by this method.
const { prototype } = pg.Client as unknown as { prototype: { query: Query } };
const { query } = prototype;
prototype.query = function (queryConfig, values, ...rest) {
  const { callerQuery = queryConfig } = queryConfig as { callerQuery?: unknown };
  // Queries for columns and shards of a cluster are not the product's own statements.
  if (callerQuery === null) return query.call(this, queryConfig, values, ...rest);
  const statement = toStatement(callerQuery, values);
  if (isProductConnection(this)) productTexts.add(statement.text);
  const waits = [...recordings].flatMap(({ statements, before, isIgnored }) => {
    if (isIgnored(statement.text)) return [];
    statements.push(statement);
    return before ? [before(this, statement, query)] : [];
  });
  const run = () => query.call(this, queryConfig, values, ...rest);
  return waits.length > 0 ? Promise.all(waits).then(run) : run();
};

function isProductConnection(connection: unknown): boolean {
  if (!(connection instanceof DatabaseSession) || isTestStatement()) return false;
  const { connectionParameters: parameters } = connection as unknown as {
    connectionParameters: { application_name?: string };
  };
  return !WHOLE_DATABASE_SESSIONS.includes(parameters.application_name ?? '');
}

/** Returns the texts that the product has sent since the last call. */
export function takeProductTexts(): string[] {
  const texts = [...productTexts];
  productTexts.clear();
  return texts;
}

function toStatement(queryConfig: unknown, values: unknown): Statement {
  const { text, values: configValues } =
    typeof queryConfig === 'string' ? { text: queryConfig } : (queryConfig as Partial<Statement>);
  const parameters = configValues ?? values;
  return { text: text ?? '', values: Array.isArray(parameters) ? parameters : [] };
}

/**
 * Records the statements of `work` in their order, including statements of concurrent work in this process.
 */
export async function recordStatements<T>(
  work: () => Promise<T>,
  before?: BeforeStatement,
  isIgnored = isBackgroundStatement,
): Promise<{ result: T; statements: Statement[] }> {
  const recording = { statements: [], isIgnored, ...(before && { before }) };
  recordings.add(recording);
  try {
    return { result: await work(), statements: recording.statements };
  } finally {
    recordings.delete(recording);
  }
}
