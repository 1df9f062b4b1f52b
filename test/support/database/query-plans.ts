/** Collects the query plans of statements on PostgreSQL, and checks how many rows and blocks they read. */
import pg from 'pg';
import { recordStatements, type Statement, serialize } from './statements.ts';

/** The members of a query plan in JSON that this module reads. */
interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

export interface QueryPlan {
  statement: Statement;
  /**
   * A custom plan is made for the statement's values. A generic plan is made for all values, as PostgreSQL
   * does for prepared statements.
   */
  mode: 'custom' | 'generic';
  /** Nodes of the plan that read a table. */
  scans: Scan[];
  blocks: number;
}

interface Scan {
  table: string;
  /** True for an index scan or a scan by row locations, false for a sequential scan. */
  isDirect: boolean;
  index: string;
  /** Rows that the node read. */
  readRows: number;
  /** Rows that the node read and discarded. */
  discardedRows: number;
}

type RunStatement = (query: string | Statement) => Promise<pg.QueryResult>;

const CONTROL_STATEMENT =
  /^\s*(show|begin|commit|rollback|savepoint|release|set|prepare|deallocate|explain)\b/i;

const READ_STATEMENT = /^\s*select\b/i;

/**
 * Returns the plans of the statements that `work` sends to PostgreSQL. Each statement is explained just
 * before it runs. Of reads with equal values, and of changes with equal text, only the 1st, 2nd, 4th, 8th and
 * so on are explained.
 */
export async function collectQueryPlans(work: () => Promise<unknown>): Promise<QueryPlan[]> {
  const plans: QueryPlan[] = [];
  const errors: unknown[] = [];
  const connectionsInTransaction = new WeakSet<object>();
  const runsByStatement = new Map<string, number>();
  const explainBefore = serialize(async (connection, statement, query) => {
    const client = connection as object;
    const run: RunStatement = (textOrStatement) =>
      query.call(client, textOrStatement) as Promise<pg.QueryResult>;
    if (/^\s*begin/i.test(statement.text)) connectionsInTransaction.add(client);
    else if (/^\s*(commit|rollback)\s*$/i.test(statement.text))
      connectionsInTransaction.delete(client);
    if (CONTROL_STATEMENT.test(statement.text)) return;
    const key = READ_STATEMENT.test(statement.text) ? formatStatement(statement) : statement.text;
    const runCount = (runsByStatement.get(key) ?? 0) + 1;
    runsByStatement.set(key, runCount);
    if (!Number.isInteger(Math.log2(runCount))) return;
    try {
      plans.push(...(await explainTwice(run, statement, connectionsInTransaction.has(client))));
    } catch (error) {
      errors.push(error);
    }
  });
  await recordStatements(work, explainBefore);
  if (errors.length > 0) throw new AggregateError(errors, String(errors[0]));
  return plans;
}

export interface Bounds {
  /** Tables that are too large for a sequential scan. */
  largeTables: ReadonlySet<string>;
  /** The number of rows that a statement may read. */
  rowsMax: number;
}

/** The pages of an index from its root to a leaf, and the page of the row. */
const BLOCKS_PER_ROW = 8;

/** Returns what the plan does beyond the bounds. Empty if it stays within them. */
export function listPlanFaults(plan: QueryPlan, { largeTables, rowsMax }: Bounds): string[] {
  const { statement, mode, blocks } = plan;
  const { text } = statement;
  const scans = plan.scans.filter(({ table }) => largeTables.has(table));
  const sumRows = (member: 'readRows' | 'discardedRows') =>
    Math.round(scans.reduce((total, scan) => total + scan[member], 0));
  // A count must read the rows that it counts, but few others.
  const isCount = text.includes('select count(*)::int as "count"');
  const [readRows, discardedRows] = [sumRows('readRows'), sumRows('discardedRows')];
  const faults = [
    ...scans.filter(({ isDirect }) => !isDirect).map(({ table }) => `reads all of ${table}`),
    ...(isCount && discardedRows > rowsMax ? [`counts over ${discardedRows} other rows`] : []),
    ...(!isCount && readRows > rowsMax ? [`reads ${readRows} rows`] : []),
    ...(!isCount && blocks > rowsMax * BLOCKS_PER_ROW ? [`reads ${blocks} blocks`] : []),
  ];
  const indexes = scans.map(({ index }) => index).join();
  return faults.map((fault) => `${mode}: ${fault} by ${indexes}\n${formatStatement(statement)}`);
}

/**
 * Explains the statement twice, and rolls each run back. Uses a savepoint if the connection is in a
 * transaction.
 */
async function explainTwice(
  run: RunStatement,
  statement: Statement,
  inTransaction: boolean,
): Promise<QueryPlan[]> {
  const explainClause = 'explain (analyze, buffers, timing off, format json)';
  const rollBack = async (work: () => Promise<QueryPlan>) => {
    await run(inTransaction ? 'savepoint explained' : 'begin');
    try {
      return await work();
    } finally {
      await run(inTransaction ? 'rollback to savepoint explained' : 'rollback');
    }
  };
  const { text, values } = statement;
  const customPlan = await rollBack(async () =>
    toPlan(statement, 'custom', await run({ text: `${explainClause} ${text}`, values })),
  );
  const genericPlan = await rollBack(async () => {
    await run('set local plan_cache_mode = force_generic_plan');
    await run(`prepare explained as ${text}`);
    const argumentList = values.length > 0 ? `(${values.map(toLiteral).join(', ')})` : '';
    const explanation = await run(`${explainClause} execute explained${argumentList}`);
    await run('deallocate explained');
    return toPlan(statement, 'generic', explanation);
  });
  return [customPlan, genericPlan];
}

function toPlan(
  statement: Statement,
  mode: QueryPlan['mode'],
  { rows }: pg.QueryResult,
): QueryPlan {
  const [{ Plan: root }] = rows[0]['QUERY PLAN'] as [{ Plan: PlanNode }];
  const scans = listNodes(root).filter((node) => node['Node Type'].includes('Scan'));
  return {
    statement,
    mode,
    scans: scans.flatMap(toScans),
    blocks: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
  };
}

function toScans(node: PlanNode): Scan[] {
  const table = node['Relation Name'];
  if (table === undefined) return [];
  const loops = node['Actual Loops'];
  const reasons = ['Rows Removed by Filter', 'Rows Removed by Index Recheck'] as const;
  const discardedRows = reasons.reduce((sum, reason) => sum + (node[reason] ?? 0) * loops, 0);
  // In a bitmap scan, the child node names the index.
  const index = node['Index Name'] ?? node.Plans?.map((inner) => inner['Index Name']).join() ?? '';
  const isDirect = node['Node Type'] !== 'Seq Scan';
  const readRows = node['Actual Rows'] * loops + discardedRows;
  return [{ table, isDirect, index, discardedRows, readRows }];
}

function listNodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(listNodes)];
}

export function toLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return pg.escapeLiteral(Array.isArray(value) ? formatArray(value) : formatScalar(value));
}

function formatArray(values: unknown[]): string {
  return `{${values.map((value) => JSON.stringify(formatScalar(value))).join(',')}}`;
}

function formatScalar(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function formatStatement({ text, values }: Statement): string {
  return `${text}\n${JSON.stringify(values, formatBigint)}`;
}

function formatBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
