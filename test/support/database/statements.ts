/** What reaches the database: every statement of this process, on either kind of database. */
import pg from 'pg';
import { Session } from '../../../src/database/sessions/session.ts';
import { isTestsOwn } from './tests-own.ts';

export interface Statement {
  text: string;
  values: unknown[];
}

type Query = (this: unknown, text: unknown, values?: unknown, ...rest: unknown[]) => unknown;

/** What is to be done first, on the very connection that is about to run the statement. */
export type Before = (connection: unknown, statement: Statement, query: Query) => Promise<void>;

/** For each connection one after the other, though statements are sent to it at once. */
export function inTurn(before: Before): Before {
  const turns = new WeakMap<object, Promise<void>>();
  return (connection, statement, query) => {
    const client = connection as object;
    const turn = () => before(connection, statement, query);
    const taken = (turns.get(client) ?? Promise.resolve()).then(turn);
    turns.set(
      client,
      taken.catch(() => {}),
    );
    return taken;
  };
}

interface Recording {
  statements: Statement[];
  before?: Before;
  isBeside: (text: string) => boolean;
}

const recordings = new Set<Recording>();

/** What the product has sent since it was last asked for: each text once. */
const sent = new Set<string>();
/** Sessions of what is done to a whole database: migrations, and copies of all of it. */
const WHOLE = ['integration-gateway migrations', 'integration-gateway copy'];

/** Asked whenever it is time, whatever is worked on: by the job queue, for leases, the clock, and connections; and hints, which are told afterwards. */
const BESIDE = [
  /pgboss|SandboxLease|ServerProcess|as waiting\("index", "time"\)/,
  /select "id" from "Erasure" where "id" <> "projectId" and /,
  /from pg_dist_|join pg_dist_/,
  /^select \(extract\(epoch from clock_timestamp\(\)\)/,
  /set_config\('(tcp_user_timeout|enable_seqscan|plan_cache_mode)'/,
  /pg_advisory_lock_shared|^(un)?listen |^checkpoint|^vacuum /i,
  /^select 1$/,
  /^select pg_notify\(/,
  /^select exists \(\s*select 1 from pg_locks /,
];

/** Who calls is looked up again whenever that was a while ago; a cluster notes the use of their key beside the call. */
export const OF_CALLERS = /k\."hash" = |"lastUsedTime" = \$/;

const isAskedBeside = (text: string) => BESIDE.some((pattern) => pattern.test(text));

// All that the pool, Prisma's adapter and transactions ask passes through this, on either kind of database.
const { prototype } = pg.Client as unknown as { prototype: { query: Query } };
const { query } = prototype;
prototype.query = function (asked, values, ...rest) {
  const { asked: meant = asked } = asked as { asked?: unknown };
  // A cluster is asked beside what the product asks: for the columns, for the shards.
  if (meant === null) return query.call(this, asked, values, ...rest);
  const statement = statementOf(meant, values);
  if (isOfProduct(this)) sent.add(statement.text);
  const waits = [...recordings].flatMap(({ statements, before, isBeside }) => {
    if (isBeside(statement.text)) return [];
    statements.push(statement);
    return before ? [before(this, statement, query)] : [];
  });
  const run = () => query.call(this, asked, values, ...rest);
  return waits.length > 0 ? Promise.all(waits).then(run) : run();
};

function isOfProduct(connection: unknown): boolean {
  if (!(connection instanceof Session) || isTestsOwn()) return false;
  const { connectionParameters: about } = connection as unknown as {
    connectionParameters: { application_name?: string };
  };
  return !WHOLE.includes(about.application_name ?? '');
}

/** The texts that the product has sent since the last call. */
export function takeSent(): string[] {
  const texts = [...sent];
  sent.clear();
  return texts;
}

function statementOf(asked: unknown, values: unknown): Statement {
  const { text, values: own } =
    typeof asked === 'string' ? { text: asked } : (asked as Partial<Statement>);
  const given = own ?? values;
  return { text: text ?? '', values: Array.isArray(given) ? given : [] };
}

/** What the work asks, in its order, and whatever else of this process runs meanwhile. */
export async function recordStatements<T>(
  work: () => Promise<T>,
  before?: Before,
  isBeside = isAskedBeside,
): Promise<{ result: T; statements: Statement[] }> {
  const recording = { statements: [], isBeside, ...(before && { before }) };
  recordings.add(recording);
  try {
    return { result: await work(), statements: recording.statements };
  } finally {
    recordings.delete(recording);
  }
}
