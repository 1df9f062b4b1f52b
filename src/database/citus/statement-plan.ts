/**
 * Decides which statements the gateway itself sends to the shards of their projects (docs/decisions/034-citus.md), with
 * PostgreSQL's own parser. Citus plans reads and Prisma's changes. It refuses changes of several steps, lateral joins,
 * recursive statements, and row locks that could concern several shards.
 */
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import type { Table } from '../tables.ts';
import { placementOf, TABLES, type TablePlacement } from './table-placement.ts';

/** PostgreSQL's own parser, as WebAssembly. Processes without a cluster never load it. */
let parser: typeof import('libpg-query') | null = null;

/** Must resolve before `parseSql` is called. */
export async function loadParser(): Promise<void> {
  const loaded = await import('libpg-query');
  await loaded.loadModule();
  parser = loaded;
}

/** Returns the syntax tree of one or several statements. Throws for a syntax error. */
export function parseSql(text: string): unknown {
  if (!parser) throw new Error('Bug: the SQL parser is not loaded.');
  return parser.parseSync(text);
}

export type Route =
  /** The shards of these projects. `of` returns the values for one of these shards. */
  | { projects: string[]; of: (projects: readonly string[]) => unknown[] }
  /** All shards, with a statement for each. */
  | 'everywhere';

/** How a text runs with any values. `parameter` (from 0) holds the projects, or rows with projects as JSON. */
type Plan =
  | { by: 'citus' }
  | { by: 'all nodes' }
  | { by: 'everywhere' }
  | { by: 'projects' | 'rows'; parameter: number };

interface ParsedStatement {
  plan: Plan;
  /** The text around its parameters, and the number of the parameter after each part but the last. */
  parts: string[];
  parameters: number[];
}

/** Far more than the few hundred texts of the gateway. */
const STATEMENTS_MAX = 2_000;
const STATEMENTS = new LRUCache<string, ParsedStatement>({ max: STATEMENTS_MAX });

/** The mark of database/projects/all-projects.ts. */
const ALL_PROJECTS = '/* all projects:';

/** Null for a statement that Citus plans. */
export function routeOf(text: string, values: readonly unknown[]): Route | null {
  const { plan } = parsed(text);
  if (plan.by === 'citus' || plan.by === 'all nodes') return null;
  return plan.by === 'everywhere' ? 'everywhere' : routeBy(plan, values);
}

/** True if the statement changes a reference table, whose rows all nodes change in one transaction. */
export function isForAllNodes(text: string): boolean {
  return parsed(text).plan.by === 'all nodes';
}

/** The text with its values as constants, which have the types that parameters would have. */
export function boundText(text: string, values: readonly unknown[]): string {
  const { parts, parameters } = parsed(text);
  return parts
    .map((part, at) =>
      at === 0 ? part : literal(values[(parameters[at - 1] as number) - 1]) + part,
    )
    .join('');
}

function parsed(text: string): ParsedStatement {
  let statement = STATEMENTS.get(text);
  if (!statement) {
    statement = parse(text);
    STATEMENTS.set(text, statement);
  }
  return statement;
}

type Node = Record<string, unknown>;

function parse(text: string): ParsedStatement {
  const facts = new Facts();
  facts.read(parseSql(text));
  const at = facts.parameters.toSorted((a, b) => a.location - b.location);
  // The parser counts bytes.
  const bytes = Buffer.from(text);
  const parts = [0, ...at.map(({ location, number }) => location + `$${number}`.length)].map(
    (from, index) => bytes.subarray(from, at[index]?.location).toString(),
  );
  return { plan: planOf(text, facts), parts, parameters: at.map(({ number }) => number) };
}

function planOf(text: string, facts: Facts): Plan {
  if (facts.changed.some((table) => placementIn(table) === 'reference')) return { by: 'all nodes' };
  if (!facts.tables.some((table) => placementIn(table) === 'distributed')) return { by: 'citus' };
  const byProjects = (number: number | null, otherwise: Plan): Plan =>
    number === null ? otherwise : { by: 'projects', parameter: number - 1 };
  if (text.trimStart().startsWith(ALL_PROJECTS)) {
    return byProjects(facts.firstProjects, { by: 'everywhere' });
  }
  if (facts.requested !== null) return byProjects(facts.requested, { by: 'citus' });
  if (!facts.isHard) return { by: 'citus' };
  if (facts.isOfJson) return { by: 'rows', parameter: 0 };
  return byProjects(facts.firstProject, { by: 'citus' });
}

function first(placeholders: readonly Placeholder[]): number | null {
  return placeholders.toSorted((a, b) => a.location - b.location)[0]?.number ?? null;
}

function placementIn(table: string): TablePlacement | null {
  return TABLES.has(table as Table) ? placementOf(table as Table) : null;
}

/** A `$1` of the text, and the byte at which it begins. */
interface Placeholder {
  number: number;
  location: number;
}

const CHANGES = ['InsertStmt', 'UpdateStmt', 'DeleteStmt'];

/** Facts of a statement's syntax tree that decide how it runs. */
class Facts {
  readonly tables: string[] = [];
  readonly changed: string[] = [];
  readonly parameters: Placeholder[] = [];
  /** Parameters that a projectId is compared with. */
  readonly projects: (Placeholder & { isArray: boolean })[] = [];
  /** The parameter with the projects of rows that are requested by arrays of their keys. */
  requested: number | null = null;
  /** True if the first parameter holds rows as JSON. */
  isOfJson = false;
  isHard = false;
  #selected: number | null = null;
  #isOfPrisma = false;

  /** The parameter that the statement compares or selects as projectId first. */
  get firstProject(): number | null {
    return first(this.projects) ?? this.#selected;
  }

  /** The first array of parameters that a projectId is compared with. */
  get firstProjects(): number | null {
    return first(this.projects.filter(({ isArray }) => isArray));
  }

  read(value: unknown): void {
    if (Array.isArray(value)) for (const one of value) this.read(one);
    if (!isNode(value)) return;
    for (const [kind, body] of Object.entries(value)) {
      if (isNode(body)) this.#meet(kind, body);
      this.read(body);
    }
  }

  #meet(kind: string, body: Node): void {
    if (CHANGES.includes(kind)) this.#meetChange(body);
    if (kind === 'RangeVar') this.#meetTable(body);
    if (kind === 'ParamRef') this.parameters.push(placeholder(body));
    if (kind === 'A_Expr') this.#meetComparison(body);
    if (kind === 'RangeFunction') this.#meetRows(body);
    if (kind === 'ResTarget' && body.name === 'projectId') {
      this.#selected ??= parameterOf(body.val)?.number ?? null;
    }
    // Members of nodes for `lateral` and `with recursive`.
    this.isHard ||= kind === 'LockingClause' || body.lateral === true || body.recursive === true;
  }

  #meetChange(body: Node): void {
    const relation = body.relation as { relname: string; schemaname?: string };
    this.#meetTable(relation);
    this.changed.push(relation.relname);
    // Prisma names the schema. Its upserts cast texts to enums, which Citus refuses.
    this.#isOfPrisma ||= relation.schemaname === 'public';
    this.isHard ||= !this.#isOfPrisma || body.onConflictClause !== undefined;
  }

  #meetTable({ relname }: Node): void {
    this.tables.push(String(relname));
  }

  #meetComparison({ kind, lexpr, rexpr }: Node): void {
    if (kind !== 'AEXPR_OP' && kind !== 'AEXPR_OP_ANY') return;
    if (columnOf(lexpr) !== 'projectId') return;
    const parameter = parameterOf(rexpr);
    if (parameter) this.projects.push({ ...parameter, isArray: kind === 'AEXPR_OP_ANY' });
  }

  /** A function in FROM that turns parameters into rows. */
  #meetRows({ functions, alias }: Node): void {
    const [call] = ((functions as [{ List: { items: Node[] } }])[0].List.items ?? []) as Node[];
    const { funcname = [], args = [] } = (call?.FuncCall ?? {}) as {
      funcname?: Node[];
      args?: unknown[];
    };
    const name = (funcname.at(-1)?.String as { sval?: string } | undefined)?.sval ?? '';
    if (name === 'unnest') {
      const { colnames = [] } = (alias ?? {}) as { colnames?: { String: { sval: string } }[] };
      const at = colnames.findIndex(({ String: { sval } }) => sval === 'projectId');
      this.requested ??= parameterOf(args[at])?.number ?? null;
    }
    const isJson = ['json', 'jsonb'].some((kind) => name.startsWith(`${kind}_to_record`));
    // The rows are the parameter, or a member of it.
    const { A_Expr: member } = (args[0] ?? {}) as { A_Expr?: Node };
    if (isJson && parameterOf(member?.lexpr ?? args[0])?.number === 1) this.isOfJson = true;
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The parameter that the expression consists of, with or without a cast. Null for other expressions. */
function parameterOf(expression: unknown): Placeholder | null {
  if (!isNode(expression)) return null;
  if (isNode(expression.TypeCast)) return parameterOf(expression.TypeCast.arg);
  return isNode(expression.ParamRef) ? placeholder(expression.ParamRef) : null;
}

function placeholder(body: Node): Placeholder {
  const { number = 0, location = 0 } = body as Partial<Placeholder>;
  return { number, location };
}

function columnOf(expression: unknown): string | null {
  if (!isNode(expression) || !isNode(expression.ColumnRef)) return null;
  const fields = expression.ColumnRef.fields as { String?: { sval: string } }[];
  return fields.at(-1)?.String?.sval ?? null;
}

/** A shard gets the values of its own projects. Arrays keep their length: other projects become empty strings. */
function routeBy(
  { by, parameter }: { by: 'projects' | 'rows'; parameter: number },
  values: readonly unknown[],
): Route {
  const given = values[parameter];
  if (by === 'rows') {
    const rows: { projectId?: string }[] = JSON.parse(String(given));
    return {
      projects: distinct(rows.map(({ projectId }) => projectId)),
      of: (some) =>
        values.with(
          parameter,
          JSON.stringify(rows.filter((row) => some.includes(String(row.projectId)))),
        ),
    };
  }
  if (!Array.isArray(given)) return { projects: distinct([given]), of: () => [...values] };
  return {
    projects: distinct(given),
    of: (some) =>
      values.with(
        parameter,
        given.map((project) => (some.includes(project) ? project : '')),
      ),
  };
}

function distinct(projects: unknown[]): string[] {
  return [...new Set(projects.filter((project) => typeof project === 'string'))];
}

function literal(value: unknown): string {
  const prepared: unknown = (pg as unknown as Utils).utils.prepareValue(value);
  if (prepared === null || prepared === undefined) return 'null';
  if (Buffer.isBuffer(prepared)) return `'\\x${prepared.toString('hex')}'`;
  return pg.escapeLiteral(String(prepared));
}

/** pg's conversion of values. The package exports it, and its types omit it. */
interface Utils {
  utils: { prepareValue(value: unknown): unknown };
}
