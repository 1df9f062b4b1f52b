/**
 * Decides how a statement reaches its rows in a cluster (docs/decisions/034-citus.md). Citus plans reads and Prisma's
 * changes. It refuses changes of several steps, lateral joins, recursive statements, and row locks that could concern
 * several shards. The gateway sends these statements to the shards of their projects.
 */
import {
  type A_Expr,
  type InsertStmt,
  loadModule,
  type Node,
  parseSync,
  type RangeFunction,
  type ResTarget,
} from 'libpg-query';
import { LRUCache } from 'lru-cache';
import { PLACEMENTS } from './table-placement.ts';

await loadModule();

type StatementRoute =
  /** The coordinator has all rows. */
  | 'coordinator'
  /** Citus plans the statement. */
  | 'plannedByCitus'
  /** Citus changes a reference table on all nodes, in one transaction. */
  | 'allNodes'
  /** The gateway sends the statement to one node after the other, for all shards of the node. */
  | 'eachNode'
  /** The gateway sends the statement to the shards of the projects that the parameter names. */
  | ProjectParameter;

/** A parameter with one project id, an array of project ids, or rows as JSON, each with a projectId. */
export interface ProjectParameter {
  index: number;
  isJson: boolean;
}

/** A safety bound: the gateway has a few hundred texts. */
export const STATEMENTS_MAX = 2_000;
const ROUTES = new LRUCache<string, StatementRoute>({ max: STATEMENTS_MAX });

export function getRoute(text: string): StatementRoute {
  const cachedRoute = ROUTES.get(text);
  if (cachedRoute) return cachedRoute;
  const route = chooseRoute(text);
  ROUTES.set(text, route);
  return route;
}

/** Returns the projects that the parameter names. */
export function listProjects(
  { index, isJson }: ProjectParameter,
  values: readonly unknown[],
): string[] {
  const value = values[index];
  const projects = isJson ? parseRows(value).map(({ projectId }) => projectId) : [value].flat();
  return [...new Set(projects.filter((project) => typeof project === 'string'))];
}

/**
 * Returns the values without projects of other shards: of JSON, only the rows of these projects. Arrays keep their length,
 * and the ids of other projects become empty strings.
 */
export function selectValues(
  { index, isJson }: ProjectParameter,
  values: readonly unknown[],
  projects: readonly string[],
): readonly unknown[] {
  const value = values[index];
  if (isJson) {
    const rows = parseRows(value).filter(({ projectId }) => projects.includes(projectId));
    return values.with(index, JSON.stringify(rows));
  }
  if (!Array.isArray(value)) return values;
  return values.with(
    index,
    value.map((id) => (projects.includes(id) ? id : '')),
  );
}

function parseRows(value: unknown): { projectId: string }[] {
  return JSON.parse(String(value));
}

/** The beginning of the mark that `database/statements/projects/all-projects.ts` writes. */
const ALL_PROJECTS_MARK = '/* all projects:';

function chooseRoute(text: string): StatementRoute {
  const { tables, changedTables, parameter, needsShards } = new StatementReader(text);
  if (changedTables.some((table) => PLACEMENTS.get(table) === 'reference')) return 'allNodes';
  if (!tables.some((table) => PLACEMENTS.get(table) === 'distributed')) return 'coordinator';
  if (text.trimStart().startsWith(ALL_PROJECTS_MARK)) return parameter ?? 'eachNode';
  return needsShards && parameter ? parameter : 'plannedByCitus';
}

/** Reads the properties of a statement that decide its route from its syntax tree. */
class StatementReader {
  readonly tables: string[] = [];
  readonly changedTables: string[] = [];
  parameter: ProjectParameter | null = null;
  /** True if Citus refuses the statement. */
  needsShards = false;

  constructor(text: string) {
    this.#read(parseSync(text));
  }

  /** Reads a part of the syntax tree, in which each node is below the name of its type. */
  #read(tree: object): void {
    for (const [type, node] of Object.entries(tree)) {
      if (typeof node !== 'object' || node === null) continue;
      this.#visit(type, node);
      this.#read(node);
    }
  }

  #visit(type: string, node: { relname?: string; lateral?: boolean; recursive?: boolean }): void {
    if (node.relname !== undefined) this.tables.push(node.relname);
    if (node.lateral || node.recursive) this.needsShards = true;
    switch (type) {
      case 'InsertStmt':
      case 'UpdateStmt':
      case 'DeleteStmt':
        this.#visitChange(node as InsertStmt);
        break;
      case 'LockingClause':
        this.needsShards = true;
        break;
      case 'A_Expr':
        this.#visitComparison(node as A_Expr);
        break;
      case 'ResTarget':
        this.#visitSelection(node as ResTarget);
        break;
      case 'RangeFunction':
        this.#visitRows(node as RangeFunction);
    }
  }

  #visitChange({ relation = {}, onConflictClause }: InsertStmt): void {
    const { relname = '', schemaname } = relation;
    this.changedTables.push(relname);
    // Only Prisma names the schema. Its upserts cast strings to enums, which Citus refuses.
    if (schemaname !== 'public' || onConflictClause) this.needsShards = true;
  }

  /** Finds the parameter of `"projectId" = $1` or `"projectId" = any($1)`. */
  #visitComparison({ name = [], lexpr, rexpr }: A_Expr): void {
    const column = lexpr && 'ColumnRef' in lexpr ? lexpr.ColumnRef.fields?.at(-1) : undefined;
    if (getText(name[0]) === '=' && getText(column) === 'projectId') this.#setParameter(rexpr);
  }

  /** Finds the parameter of `select $1 as "projectId"`. */
  #visitSelection({ name, val }: ResTarget): void {
    if (name === 'projectId') this.#setParameter(val);
  }

  /**
   * Finds the parameter of `unnest($1, $2) as requested("id", "projectId")` or of `jsonb_to_recordset($1) as
   * input("projectId" text)`.
   */
  #visitRows({ functions = [], alias, coldeflist = [] }: RangeFunction): void {
    const [list] = functions;
    const call = list && 'List' in list ? list.List.items?.[0] : undefined;
    if (!call || !('FuncCall' in call)) return;
    const { funcname = [], args = [] } = call.FuncCall;
    const isJson = getText(funcname.at(-1)) !== 'unnest';
    const columns = [...(alias?.colnames ?? []), ...coldeflist].map(getText);
    const columnIndex = columns.indexOf('projectId');
    if (columnIndex < 0) return;
    this.needsShards = true;
    this.#setParameter(args[isJson ? 0 : columnIndex], { isJson });
  }

  #setParameter(expression: Node | undefined, { isJson = false } = {}): void {
    const number = findParameterNumber(expression);
    if (number !== null) this.parameter ??= { index: number - 1, isJson };
  }
}

/** Returns the number of the parameter that the expression consists of, or whose member or cast it is. */
function findParameterNumber(expression: Node | undefined): number | null {
  if (!expression) return null;
  if ('TypeCast' in expression) return findParameterNumber(expression.TypeCast.arg);
  if ('A_Expr' in expression) return findParameterNumber(expression.A_Expr.lexpr);
  return 'ParamRef' in expression ? (expression.ParamRef.number ?? null) : null;
}

/** Returns the text of a name or of a column definition. */
function getText(node: Node | undefined): string {
  if (node && 'ColumnDef' in node) return node.ColumnDef.colname ?? '';
  return node && 'String' in node ? (node.String.sval ?? '') : '';
}
