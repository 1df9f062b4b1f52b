/** How PostgreSQL answers a statement: what it touches for it, told by the plan as it was run. */
import pg from 'pg';
import { inTurn, recordStatements, type Statement } from './statements.ts';

/** As EXPLAIN gives it, of what is looked at here. */
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

export interface Plan {
  statement: Statement;
  /** With the values known, or made once for all values, as a prepared statement comes to have it. */
  mode: 'custom' | 'generic';
  /** What was read of the tables. */
  scans: Scan[];
  blocks: number;
}

interface Scan {
  table: string;
  /** By an index or by places; else the table was read from end to end. */
  isDirect: boolean;
  index: string;
  /** Rows that were looked at. */
  touched: number;
  /** Of these, rows that were of no use. */
  useless: number;
}

type Ask = (asked: string | Statement) => Promise<pg.QueryResult>;

/** The plans of a statement, run and undone on a connection that is in no transaction, or inside one. */
async function explain(ask: Ask, statement: Statement, inTransaction: boolean): Promise<Plan[]> {
  const explained = 'explain (analyze, buffers, timing off, format json)';
  const undone = async (work: () => Promise<Plan>) => {
    await ask(inTransaction ? 'savepoint explained' : 'begin');
    try {
      return await work();
    } finally {
      await ask(inTransaction ? 'rollback to savepoint explained' : 'rollback');
    }
  };
  const { text, values } = statement;
  const custom = await undone(async () =>
    planOf(statement, 'custom', await ask({ text: `${explained} ${text}`, values })),
  );
  const generic = await undone(async () => {
    await ask('set local plan_cache_mode = force_generic_plan');
    await ask(`prepare explained as ${text}`);
    const given = values.length > 0 ? `(${values.map(literal).join(', ')})` : '';
    const result = await ask(`${explained} execute explained${given}`);
    await ask('deallocate explained');
    return planOf(statement, 'generic', result);
  });
  return [custom, generic];
}

function planOf(statement: Statement, mode: Plan['mode'], { rows }: pg.QueryResult): Plan {
  const [{ Plan: top }] = rows[0]['QUERY PLAN'] as [{ Plan: PlanNode }];
  const scans = nodesOf(top).filter((node) => node['Node Type'].includes('Scan'));
  return {
    statement,
    mode,
    scans: scans.flatMap(scanOf),
    blocks: top['Shared Hit Blocks'] + top['Shared Read Blocks'],
  };
}

function scanOf(node: PlanNode): Scan[] {
  const table = node['Relation Name'];
  if (table === undefined) return [];
  const loops = node['Actual Loops'];
  const removed = ['Rows Removed by Filter', 'Rows Removed by Index Recheck'] as const;
  const useless = removed.reduce((sum, reason) => sum + (node[reason] ?? 0) * loops, 0);
  // A bitmap's index is named by the node below it.
  const index = node['Index Name'] ?? node.Plans?.map((inner) => inner['Index Name']).join() ?? '';
  const isDirect = node['Node Type'] !== 'Seq Scan';
  return [{ table, isDirect, index, useless, touched: node['Actual Rows'] * loops + useless }];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

export function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return pg.escapeLiteral(Array.isArray(value) ? arrayText(value) : scalarText(value));
}

function arrayText(values: unknown[]): string {
  return `{${values.map((value) => JSON.stringify(scalarText(value))).join(',')}}`;
}

function scalarText(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const CONTROLS = /^\s*(begin|commit|rollback|savepoint|release|set|prepare|deallocate|explain)\b/i;

/** The plans of all that the work asks of PostgreSQL: each is looked at right before it is run. */
export async function plansOf(work: () => Promise<unknown>): Promise<Plan[]> {
  const plans: Plan[] = [];
  const errors: unknown[] = [];
  const open = new WeakSet<object>();
  const before = inTurn(async (connection, statement, query) => {
    const client = connection as object;
    const ask: Ask = (asked) => query.call(client, asked) as Promise<pg.QueryResult>;
    if (/^\s*begin/i.test(statement.text)) open.add(client);
    else if (/^\s*(commit|rollback)\s*$/i.test(statement.text)) open.delete(client);
    if (CONTROLS.test(statement.text)) return;
    try {
      plans.push(...(await explain(ask, statement, open.has(client))));
    } catch (error) {
      errors.push(error);
    }
  });
  await recordStatements(work, before);
  if (errors.length > 0) throw new AggregateError(errors, String(errors[0]));
  return plans;
}

export interface Bounds {
  /** Tables that are too large to be read from end to end. */
  large: ReadonlySet<string>;
  /** Rows that a statement may look at. */
  rows: number;
}

/** What a plan does that it must not; nothing if it is bounded. */
export function faultsOf(plan: Plan, { large, rows }: Bounds): string[] {
  const { statement, mode, blocks } = plan;
  const { text, values } = statement;
  const scans = plan.scans.filter(({ table }) => large.has(table));
  const sum = (of: 'touched' | 'useless') =>
    Math.round(scans.reduce((total, scan) => total + scan[of], 0));
  // A count has to look at what it counts, but not at others.
  const isCount = text.includes('select count(*)::int as "count"');
  const [touched, useless] = [sum('touched'), sum('useless')];
  const faults = [
    ...scans.filter(({ isDirect }) => !isDirect).map(({ table }) => `reads all of ${table}`),
    ...(isCount && useless > rows ? [`counts over ${useless} others`] : []),
    ...(!isCount && touched > rows ? [`looks at ${touched} rows`] : []),
    ...(!isCount && blocks > rows * BLOCKS_PER_ROW ? [`looks at ${blocks} blocks`] : []),
  ];
  const indexes = scans.map(({ index }) => index).join();
  const asked = `${text}\n${JSON.stringify(values, bigintText)}`;
  return faults.map((fault) => `${mode}: ${fault} by ${indexes}\n${asked}`);
}

/** The way down an index, and the row. */
const BLOCKS_PER_ROW = 8;

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
