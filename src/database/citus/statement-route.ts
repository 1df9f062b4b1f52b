/**
 * Decides how a statement reaches its rows in a cluster (docs/decisions/034-citus.md). Citus plans reads and Prisma's
 * changes. It refuses changes of several steps, lateral joins, recursive statements, and row locks that could concern
 * several shards. The gateway sends these statements to the shards of their projects.
 */
import type {
  A_Expr,
  InsertStmt,
  Node,
  ParamRef,
  RangeFunction,
  RangeVar,
  ResTarget,
} from 'libpg-query';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import type { Table } from '../tables.ts';
import { parseSql } from './sql-parser.ts';
import { getPlacement, TABLES, type TablePlacement } from './table-placement.ts';

export type StatementRoute =
  /** Citus plans the statement. */
  | 'planned'
  /** Citus changes a reference table on all nodes, in one transaction. */
  | 'allNodes'
  /** The gateway sends the statement to one node after the other, for all shards of the node. */
  | 'eachNode'
  | ShardRoute;

/** The gateway sends the statement to the shards of these projects. */
export interface ShardRoute {
  projects: string[];
  /** Returns the parameter values for the shard that has these projects. */
  selectValues(shardProjects: readonly string[]): unknown[];
}

/** A route that may depend on the values of the statement. */
type Plan = Exclude<StatementRoute, ShardRoute> | ((values: readonly unknown[]) => ShardRoute);

interface ParsedStatement {
  plan: Plan;
  /** The text, with the number of a parameter in place of each placeholder. */
  segments: (string | number)[];
}

/** A safety bound: the gateway has a few hundred texts. */
const STATEMENTS_MAX = 2_000;
const STATEMENTS = new LRUCache<string, ParsedStatement>({ max: STATEMENTS_MAX });

export function findRoute(text: string, values: readonly unknown[]): StatementRoute {
  const { plan } = parseCached(text);
  return typeof plan === 'function' ? plan(values) : plan;
}

/** Returns the text with its values as constants, which have the types that parameters would have. */
export function bindText(text: string, values: readonly unknown[]): string {
  return parseCached(text)
    .segments.map((segment) =>
      typeof segment === 'string' ? segment : formatLiteral(values[segment - 1]),
    )
    .join('');
}

function parseCached(text: string): ParsedStatement {
  const cachedStatement = STATEMENTS.get(text);
  if (cachedStatement) return cachedStatement;
  const analysis = new StatementAnalysis();
  analysis.read(parseSql(text));
  const statement = {
    plan: createPlan(text, analysis),
    segments: splitText(text, analysis.placeholders),
  };
  STATEMENTS.set(text, statement);
  return statement;
}

function splitText(text: string, placeholders: readonly Placeholder[]): (string | number)[] {
  // The parser counts bytes.
  const bytes = Buffer.from(text);
  const segments: (string | number)[] = [];
  let start = 0;
  for (const { number, location } of placeholders.toSorted(compareLocations)) {
    segments.push(bytes.subarray(start, location).toString(), number);
    start = location + `$${number}`.length;
  }
  return [...segments, bytes.subarray(start).toString()];
}

function formatLiteral(value: unknown): string {
  const preparedValue: unknown = (pg as unknown as Utils).utils.prepareValue(value);
  if (preparedValue === null || preparedValue === undefined) return 'null';
  if (Buffer.isBuffer(preparedValue)) return `'\\x${preparedValue.toString('hex')}'`;
  return pg.escapeLiteral(String(preparedValue));
}

/** pg's conversion of values. The package exports it, and its types omit it. */
interface Utils {
  utils: { prepareValue(value: unknown): unknown };
}

/** The beginning of the mark that `database/projects/all-projects.ts` writes. */
const ALL_PROJECTS_MARK = '/* all projects:';

function createPlan(text: string, analysis: StatementAnalysis): Plan {
  const { tables, changedTables, comparisons } = analysis;
  if (changedTables.some((table) => findPlacement(table) === 'reference')) return 'allNodes';
  if (!tables.some((table) => findPlacement(table) === 'distributed')) return 'planned';
  if (text.trimStart().startsWith(ALL_PROJECTS_MARK)) {
    const array = findFirst(comparisons.filter(({ isArray }) => isArray));
    return array ? planByParameter(array) : 'eachNode';
  }
  if (analysis.requestedProjects) return planByParameter(analysis.requestedProjects);
  if (!analysis.needsShards) return 'planned';
  if (analysis.hasJsonRows) return routeByJsonRows;
  const project = findFirst(comparisons) ?? analysis.selectedProject;
  return project ? planByParameter(project) : 'planned';
}

function findPlacement(table: string): TablePlacement | null {
  return TABLES.has(table as Table) ? getPlacement(table as Table) : null;
}

/** The first parameter holds rows with projects as JSON. A shard gets the rows of its own projects. */
function routeByJsonRows(values: readonly unknown[]): ShardRoute {
  const rows: { projectId?: string }[] = JSON.parse(String(values[0]));
  return {
    projects: listDistinctStrings(rows.map(({ projectId }) => projectId)),
    selectValues(shardProjects) {
      const shardRows = rows.filter(({ projectId }) => shardProjects.includes(String(projectId)));
      return values.with(0, JSON.stringify(shardRows));
    },
  };
}

/**
 * The parameter holds one project or an array of projects. A shard gets the ids of its own projects. Arrays keep their
 * length: the ids of other projects become empty strings.
 */
function planByParameter({ number }: Placeholder): (values: readonly unknown[]) => ShardRoute {
  const index = number - 1;
  return (values) => {
    const projects = values[index];
    if (!Array.isArray(projects)) {
      return { projects: listDistinctStrings([projects]), selectValues: () => [...values] };
    }
    return {
      projects: listDistinctStrings(projects),
      selectValues(shardProjects) {
        const shardIds = projects.map((id) => (shardProjects.includes(id) ? id : ''));
        return values.with(index, shardIds);
      },
    };
  };
}

function listDistinctStrings(values: readonly unknown[]): string[] {
  return [...new Set(values.filter((value) => typeof value === 'string'))];
}

/** A `$1` of the text, and the byte at which it begins. */
interface Placeholder {
  number: number;
  location: number;
}

/** The properties of a statement's syntax tree that decide how it reaches its rows. */
class StatementAnalysis {
  readonly tables: string[] = [];
  readonly changedTables: string[] = [];
  readonly placeholders: Placeholder[] = [];
  /** Placeholders that a projectId is compared with. */
  readonly comparisons: (Placeholder & { isArray: boolean })[] = [];
  /** The placeholder that the statement selects as projectId. */
  selectedProject: Placeholder | null = null;
  /** The array of project ids in `unnest(…)`. */
  requestedProjects: Placeholder | null = null;
  /** True if the first parameter holds rows as JSON. */
  hasJsonRows = false;
  /** True if Citus refuses the statement. */
  needsShards = false;
  #isPrismaChange = false;

  /** Reads a part of the syntax tree, in which each node is below the name of its type. */
  read(tree: object): void {
    for (const [type, body] of Object.entries(tree)) {
      if (typeof body !== 'object' || body === null) continue;
      this.#visit(type, body);
      this.read(body);
    }
  }

  #visit(type: string, body: { lateral?: boolean; recursive?: boolean }): void {
    if (body.lateral || body.recursive) this.needsShards = true;
    switch (type) {
      case 'InsertStmt':
      case 'UpdateStmt':
      case 'DeleteStmt':
        this.#visitChange(body as InsertStmt);
        break;
      case 'RangeVar':
        this.#visitTable(body as RangeVar);
        break;
      case 'ParamRef':
        this.placeholders.push(toPlaceholder(body as ParamRef));
        break;
      case 'A_Expr':
        this.#visitComparison(body as A_Expr);
        break;
      case 'RangeFunction':
        this.#visitRowFunction(body as RangeFunction);
        break;
      case 'ResTarget':
        this.#visitSelection(body as ResTarget);
        break;
      case 'LockingClause':
        this.needsShards = true;
    }
  }

  #visitChange({ relation = {}, onConflictClause }: InsertStmt): void {
    const { relname = '', schemaname } = relation;
    this.tables.push(relname);
    this.changedTables.push(relname);
    // Only Prisma names the schema. Its upserts cast strings to enums, which Citus refuses.
    this.#isPrismaChange ||= schemaname === 'public';
    this.needsShards ||= !this.#isPrismaChange || onConflictClause !== undefined;
  }

  #visitTable({ relname = '' }: RangeVar): void {
    this.tables.push(relname);
  }

  #visitComparison({ kind, lexpr, rexpr }: A_Expr): void {
    if (kind !== 'AEXPR_OP' && kind !== 'AEXPR_OP_ANY') return;
    const placeholder = findPlaceholder(rexpr);
    if (!placeholder || findColumn(lexpr) !== 'projectId') return;
    this.comparisons.push({ ...placeholder, isArray: kind === 'AEXPR_OP_ANY' });
  }

  #visitSelection({ name, val }: ResTarget): void {
    if (name === 'projectId') this.selectedProject ??= findPlaceholder(val);
  }

  /** Visits a function in FROM that turns parameters into rows. */
  #visitRowFunction({ functions = [], alias }: RangeFunction): void {
    const [list] = functions;
    const call = list && 'List' in list ? list.List.items?.[0] : undefined;
    if (!call || !('FuncCall' in call)) return;
    const { funcname = [], args = [] } = call.FuncCall;
    const name = getText(funcname.at(-1));
    if (name === 'unnest') {
      const columns = alias?.colnames ?? [];
      const index = columns.findIndex((column) => getText(column) === 'projectId');
      this.requestedProjects ??= findPlaceholder(args[index]);
    } else if (/^jsonb?_to_record/.test(name)) {
      const [rows] = args;
      // The rows are the parameter, or a member of it.
      const json = rows && 'A_Expr' in rows ? rows.A_Expr.lexpr : rows;
      this.hasJsonRows ||= findPlaceholder(json)?.number === 1;
    }
  }
}

/** Returns the placeholder that the expression consists of, with or without a cast. Null for other expressions. */
function findPlaceholder(expression: Node | undefined): Placeholder | null {
  if (!expression) return null;
  if ('TypeCast' in expression) return findPlaceholder(expression.TypeCast.arg);
  return 'ParamRef' in expression ? toPlaceholder(expression.ParamRef) : null;
}

function toPlaceholder({ number = 0, location = 0 }: ParamRef): Placeholder {
  return { number, location };
}

function findFirst(placeholders: readonly Placeholder[]): Placeholder | undefined {
  return placeholders.toSorted(compareLocations)[0];
}

function compareLocations(a: Placeholder, b: Placeholder): number {
  return a.location - b.location;
}

function findColumn(expression: Node | undefined): string | null {
  if (!expression || !('ColumnRef' in expression)) return null;
  return getText(expression.ColumnRef.fields?.at(-1));
}

function getText(node: Node | undefined): string {
  return node && 'String' in node ? (node.String.sval ?? '') : '';
}
