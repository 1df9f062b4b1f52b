/**
 * Decides whether the gateway or Citus routes a statement to the shards of its projects (docs/decisions/034-citus.md).
 * PostgreSQL's own parser reads the statement. Citus plans reads and Prisma's changes. It refuses changes of several
 * steps, lateral joins, recursive statements, and row locks that could concern several shards.
 */
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import type { Table } from '../tables.ts';
import { getPlacement, TABLES, type TablePlacement } from './table-placement.ts';

/** PostgreSQL's own parser, as WebAssembly. Processes without a cluster never load it. */
let parser: typeof import('libpg-query') | null = null;

/** Must resolve before `parseSql` is called. */
export async function loadParser(): Promise<void> {
  const module = await import('libpg-query');
  await module.loadModule();
  parser = module;
}

/** Returns the syntax tree of one or several statements. Throws for a syntax error. */
export function parseSql(text: string): unknown {
  if (!parser) throw new Error('Bug: the SQL parser is not loaded.');
  return parser.parseSync(text);
}

export type ShardRoute =
  /** The shards of these projects. `valuesFor` returns the parameter values for the shard that has `projects`. */
  | { projects: string[]; valuesFor: (projects: readonly string[]) => unknown[] }
  /** All shards, with a statement for each. */
  | 'everywhere';

/** How a text is sent. It does not depend on the values. */
type Plan =
  | { by: 'citus' }
  /** Citus changes a reference table on all nodes, in one transaction. */
  | { by: 'all nodes' }
  /** The gateway sends a statement to each shard. */
  | { by: 'everywhere' }
  /** The parameter with this index holds one project or an array of projects. */
  | { by: 'projects'; parameter: number }
  /** The first parameter holds rows with projects as JSON. */
  | { by: 'rows' };

interface ParsedStatement {
  plan: Plan;
  /** The text around its parameters, and the number of the parameter after each part but the last. */
  parts: string[];
  parameters: number[];
}

/** A safety bound: the gateway has a few hundred texts. */
const STATEMENTS_MAX = 2_000;
const STATEMENTS = new LRUCache<string, ParsedStatement>({ max: STATEMENTS_MAX });

/** The mark of database/projects/all-projects.ts. */
const ALL_PROJECTS = '/* all projects:';

/** Null for a statement that Citus plans. */
export function findRoute(text: string, values: readonly unknown[]): ShardRoute | null {
  const { plan } = parseCached(text);
  switch (plan.by) {
    case 'citus':
    case 'all nodes':
      return null;
    case 'everywhere':
      return 'everywhere';
    case 'rows':
      return routeByRows(values);
    case 'projects':
      return routeByProjects(values, plan.parameter);
  }
}

/** True if the statement changes a reference table, which Citus does on all nodes. */
export function isForAllNodes(text: string): boolean {
  return parseCached(text).plan.by === 'all nodes';
}

/** Returns the text with its values as constants, which have the types that parameters would have. */
export function bindText(text: string, values: readonly unknown[]): string {
  const { parts, parameters } = parseCached(text);
  return parts
    .map((part, index) =>
      index === 0 ? part : formatLiteral(values[(parameters[index - 1] as number) - 1]) + part,
    )
    .join('');
}

function parseCached(text: string): ParsedStatement {
  const cachedStatement = STATEMENTS.get(text);
  if (cachedStatement) return cachedStatement;
  const statement = parse(text);
  STATEMENTS.set(text, statement);
  return statement;
}

type SyntaxNode = Record<string, unknown>;

function parse(text: string): ParsedStatement {
  const analysis = new StatementAnalysis();
  analysis.read(parseSql(text));
  const placeholders = analysis.parameters.toSorted((a, b) => a.location - b.location);
  // The parser counts bytes.
  const bytes = Buffer.from(text);
  const parts: string[] = [];
  let start = 0;
  for (const { location, number } of placeholders) {
    parts.push(bytes.subarray(start, location).toString());
    start = location + `$${number}`.length;
  }
  parts.push(bytes.subarray(start).toString());
  const parameters = placeholders.map(({ number }) => number);
  return { plan: createPlan(text, analysis), parts, parameters };
}

function createPlan(text: string, analysis: StatementAnalysis): Plan {
  if (analysis.changedTables.some((table) => findPlacement(table) === 'reference'))
    return { by: 'all nodes' };
  if (!analysis.tables.some((table) => findPlacement(table) === 'distributed'))
    return { by: 'citus' };
  if (text.trimStart().startsWith(ALL_PROJECTS)) {
    return planByProjects(analysis.projectArrayParameter) ?? { by: 'everywhere' };
  }
  const byRequestedProjects = planByProjects(analysis.requestedProjects);
  if (byRequestedProjects) return byRequestedProjects;
  if (!analysis.needsRouting) return { by: 'citus' };
  if (analysis.hasJsonRows) return { by: 'rows' };
  return planByProjects(analysis.projectParameter) ?? { by: 'citus' };
}

function planByProjects(parameterNumber: number | null): Plan | null {
  return parameterNumber === null ? null : { by: 'projects', parameter: parameterNumber - 1 };
}

function findFirstNumber(placeholders: readonly Placeholder[]): number | null {
  return placeholders.toSorted((a, b) => a.location - b.location)[0]?.number ?? null;
}

function findPlacement(table: string): TablePlacement | null {
  return TABLES.has(table as Table) ? getPlacement(table as Table) : null;
}

/** A `$1` of the text, and the byte at which it begins. */
interface Placeholder {
  number: number;
  location: number;
}

const CHANGES = ['InsertStmt', 'UpdateStmt', 'DeleteStmt'];

/** The properties of a statement's syntax tree that decide how it runs. */
class StatementAnalysis {
  readonly tables: string[] = [];
  readonly changedTables: string[] = [];
  readonly parameters: Placeholder[] = [];
  /** Parameters that a projectId is compared with. */
  readonly projects: (Placeholder & { isArray: boolean })[] = [];
  /** The array parameter of project ids in `unnest(…)`. */
  requestedProjects: number | null = null;
  /** True if the first parameter holds rows as JSON. */
  hasJsonRows = false;
  needsRouting = false;
  #selectedParameter: number | null = null;
  #isPrismaChange = false;

  /** The parameter that the statement compares or selects as projectId first. */
  get projectParameter(): number | null {
    return findFirstNumber(this.projects) ?? this.#selectedParameter;
  }

  /** The first array of parameters that a projectId is compared with. */
  get projectArrayParameter(): number | null {
    return findFirstNumber(this.projects.filter(({ isArray }) => isArray));
  }

  read(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) this.read(item);
    if (!isNode(value)) return;
    for (const [kind, body] of Object.entries(value)) {
      if (isNode(body)) this.#visit(kind, body);
      this.read(body);
    }
  }

  #visit(kind: string, body: SyntaxNode): void {
    if (CHANGES.includes(kind)) this.#visitChange(body);
    if (kind === 'RangeVar') this.#visitTable(body);
    if (kind === 'ParamRef') this.parameters.push(toPlaceholder(body));
    if (kind === 'A_Expr') this.#visitComparison(body);
    if (kind === 'RangeFunction') this.#visitRowFunction(body);
    if (kind === 'ResTarget' && body.name === 'projectId') {
      this.#selectedParameter ??= findParameter(body.val)?.number ?? null;
    }
    // Members of nodes for `lateral` and `with recursive`.
    this.needsRouting ||=
      kind === 'LockingClause' || body.lateral === true || body.recursive === true;
  }

  #visitChange(body: SyntaxNode): void {
    const relation = body.relation as { relname: string; schemaname?: string };
    this.#visitTable(relation);
    this.changedTables.push(relation.relname);
    // Only Prisma names the schema. Its upserts cast strings to enums, which Citus refuses.
    this.#isPrismaChange ||= relation.schemaname === 'public';
    this.needsRouting ||= !this.#isPrismaChange || body.onConflictClause !== undefined;
  }

  #visitTable({ relname }: SyntaxNode): void {
    this.tables.push(String(relname));
  }

  #visitComparison({ kind, lexpr, rexpr }: SyntaxNode): void {
    if (kind !== 'AEXPR_OP' && kind !== 'AEXPR_OP_ANY') return;
    if (findColumn(lexpr) !== 'projectId') return;
    const parameter = findParameter(rexpr);
    if (parameter) this.projects.push({ ...parameter, isArray: kind === 'AEXPR_OP_ANY' });
  }

  /** A function in FROM that turns parameters into rows. */
  #visitRowFunction({ functions, alias }: SyntaxNode): void {
    const [call] = ((functions as [{ List: { items: SyntaxNode[] } }])[0].List.items ??
      []) as SyntaxNode[];
    const { funcname = [], args = [] } = (call?.FuncCall ?? {}) as {
      funcname?: SyntaxNode[];
      args?: unknown[];
    };
    const name = (funcname.at(-1)?.String as { sval?: string } | undefined)?.sval ?? '';
    if (name === 'unnest') {
      const { colnames = [] } = (alias ?? {}) as { colnames?: { String: { sval: string } }[] };
      const index = colnames.findIndex(({ String: { sval } }) => sval === 'projectId');
      this.requestedProjects ??= findParameter(args[index])?.number ?? null;
    }
    const isJson = ['json', 'jsonb'].some((kind) => name.startsWith(`${kind}_to_record`));
    // The rows are the parameter, or a member of it.
    const { A_Expr: member } = (args[0] ?? {}) as { A_Expr?: SyntaxNode };
    if (isJson && findParameter(member?.lexpr ?? args[0])?.number === 1) this.hasJsonRows = true;
  }
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the parameter that the expression consists of, with or without a cast. Null for other expressions. */
function findParameter(expression: unknown): Placeholder | null {
  if (!isNode(expression)) return null;
  if (isNode(expression.TypeCast)) return findParameter(expression.TypeCast.arg);
  return isNode(expression.ParamRef) ? toPlaceholder(expression.ParamRef) : null;
}

function toPlaceholder(body: SyntaxNode): Placeholder {
  const { number = 0, location = 0 } = body as Partial<Placeholder>;
  return { number, location };
}

function findColumn(expression: unknown): string | null {
  if (!isNode(expression) || !isNode(expression.ColumnRef)) return null;
  const fields = expression.ColumnRef.fields as { String?: { sval: string } }[];
  return fields.at(-1)?.String?.sval ?? null;
}

/** A shard gets the rows of its own projects. */
function routeByRows(values: readonly unknown[]): ShardRoute {
  const rows: { projectId?: string }[] = JSON.parse(String(values[0]));
  return {
    projects: listDistinctStrings(rows.map(({ projectId }) => projectId)),
    valuesFor: (shardProjects) =>
      values.with(
        0,
        JSON.stringify(rows.filter((row) => shardProjects.includes(String(row.projectId)))),
      ),
  };
}

/** A shard gets the ids of its own projects. Arrays keep their length: other projects become empty strings. */
function routeByProjects(values: readonly unknown[], parameter: number): ShardRoute {
  const projects = values[parameter];
  if (!Array.isArray(projects)) {
    return { projects: listDistinctStrings([projects]), valuesFor: () => [...values] };
  }
  return {
    projects: listDistinctStrings(projects),
    valuesFor: (shardProjects) =>
      values.with(
        parameter,
        projects.map((project) => (shardProjects.includes(project) ? project : '')),
      ),
  };
}

function listDistinctStrings(projects: unknown[]): string[] {
  return [...new Set(projects.filter((project) => typeof project === 'string'))];
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
