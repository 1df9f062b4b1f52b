/**
 * Parses a statement and finds tables that it reads or changes without a condition on the project. A
 * condition compares the table's `projectId` with a value, or with the `projectId` of a table that has such a
 * condition.
 */
import { loadModule, parseSync } from 'libpg-query';
import { Prisma } from '../../../src/database/generated/client.ts';

await loadModule();

/** Tables whose rows belong to a project. */
const PROJECT_TABLES = new Set<string>(
  Object.values(Prisma.ModelName).filter(
    (table) => 'projectId' in Prisma[`${table}ScalarFieldEnum`],
  ),
);
/**
 * Columns that identify a project's row without its `projectId`. The hash of an API key is unique in the
 * service.
 */
const UNIQUE_IN_SERVICE: Record<string, string> = { ApiKey: 'hash' };

const ACROSS_PROJECTS = /^\/\* all projects: .+? \*\/\s/;

type Node = Record<string, unknown>;

/** Returns a phrase for each missing condition, such as `reads Topic`. */
export function listMissingConditions(text: string): string[] {
  const readsAllProjects = ACROSS_PROJECTS.test(text);
  const { stmts = [] } = parseSync(text) as { stmts?: { stmt: Node }[] };
  return stmts.flatMap(({ stmt }) => {
    const reader = new StatementReader();
    reader.readStatement(stmt, []);
    return reader
      .listMissing()
      .flatMap(({ description, isTarget }) => (isTarget || !readsAllProjects ? description : []));
  });
}

/** An item of a FROM list, and whether a condition names its project. */
interface Source {
  alias: string;
  /** Null if the item is no table of projects, such as a CTE, which is checked where it is defined. */
  table: string | null;
  /** Items whose `projectId` a condition equates with this one. */
  equatedSources: Source[];
  isBound: boolean;
  isTarget: boolean;
}

interface MissingCondition {
  description: string;
  /** True if the statement changes the table's rows. */
  isTarget: boolean;
}

class StatementReader {
  readonly #tableUses: { verb: string; source: Source }[] = [];
  readonly #missingInserts: MissingCondition[] = [];

  /**
   * Call this after the whole statement: an item may be bound through another item whose condition comes
   * later.
   */
  listMissing(): MissingCondition[] {
    const unboundReads = this.#tableUses.filter(
      ({ source }) => !isBoundToProject(source, new Set()),
    );
    const unboundTables = unboundReads.map(({ verb, source: { table, isTarget } }) => ({
      description: `${verb} ${table}`,
      isTarget,
    }));
    return [...this.#missingInserts, ...unboundTables];
  }

  readStatement(node: Node, outer: Source[]): void {
    const [[kind, body]] = Object.entries(node) as [[string, Node]];
    if (kind === 'SelectStmt') this.#readSelect(body, outer);
    else if (kind === 'UpdateStmt') this.#readChange('updates', body, outer);
    else if (kind === 'DeleteStmt') this.#readChange('deletes', body, outer);
    else if (kind === 'InsertStmt') this.#readInsert(body, outer);
  }

  #readSelect(body: Node, outer: Source[]): void {
    const ctes = this.#readCtes(body, outer);
    for (const side of ['larg', 'rarg']) {
      if (body[side]) this.#readSelect(body[side] as Node, [...outer, ...ctes]);
    }
    const sources = this.#readSources((body.fromClause ?? []) as Node[], [...ctes, ...outer]);
    const scope = [...sources, ...outer, ...ctes];
    this.#readConditions(
      [body.whereClause, ...listJoinConditions(body.fromClause)],
      sources,
      scope,
    );
    const rest = { ...body, larg: null, rarg: null, withClause: null, fromClause: null };
    this.#readSubstatements(rest, scope);
    this.#report('reads', sources);
  }

  #readChange(verb: string, body: Node, outer: Source[]): void {
    const ctes = this.#readCtes(body, outer);
    const target = toSource(body.relation as Node, ctes, true);
    const from = (body.fromClause ?? body.usingClause ?? []) as Node[];
    const sources = [target, ...this.#readSources(from, [target, ...ctes, ...outer])];
    const scope = [...sources, ...outer, ...ctes];
    this.#readConditions([body.whereClause, ...listJoinConditions(from)], sources, scope);
    this.#readSubstatements(
      { ...body, relation: null, withClause: null, fromClause: null, usingClause: null },
      scope,
    );
    this.#report(verb, sources);
  }

  #readInsert(body: Node, outer: Source[]): void {
    const ctes = this.#readCtes(body, outer);
    const { relname } = body.relation as { relname: string };
    const columns = ((body.cols ?? []) as { ResTarget: { name: string } }[]).map(
      ({ ResTarget }) => ResTarget.name,
    );
    if (PROJECT_TABLES.has(relname) && columns.length > 0 && !columns.includes('projectId')) {
      this.#missingInserts.push({ description: `inserts into ${relname}`, isTarget: true });
    }
    this.#readSubstatements({ ...body, withClause: null, relation: null }, [...outer, ...ctes]);
  }

  #readCtes(body: Node, outer: Source[]): Source[] {
    const ctes: Source[] = [];
    const { ctes: nodes = [] } = (body.withClause ?? {}) as { ctes?: Node[] };
    for (const node of nodes) {
      const { ctename, ctequery } = node.CommonTableExpr as { ctename: string; ctequery: Node };
      ctes.push(createBoundSource(ctename));
      this.readStatement(ctequery, [...outer, ...ctes]);
    }
    return ctes;
  }

  /** Returns the items of a FROM list. Checks subqueries in it too. */
  #readSources(from: Node[], outer: Source[]): Source[] {
    const sources: Source[] = [];
    const read = (node: Node): void => {
      const [[kind, body]] = Object.entries(node) as [[string, Node]];
      if (kind === 'RangeVar') sources.push(toSource(body, outer, false));
      else if (kind === 'JoinExpr') {
        read(body.larg as Node);
        read(body.rarg as Node);
        equateUsing(body, sources);
      } else {
        this.#readSubstatements(body, [...sources, ...outer]);
        const { alias } = body as { alias?: { aliasname: string } };
        if (alias) sources.push(createBoundSource(alias.aliasname));
      }
    };
    from.forEach(read);
    return sources;
  }

  /** Checks the statements inside an expression. */
  #readSubstatements(value: unknown, scope: Source[]): void {
    if (Array.isArray(value)) for (const item of value) this.#readSubstatements(item, scope);
    if (!isNode(value)) return;
    for (const [kind, inner] of Object.entries(value)) {
      if (kind.endsWith('Stmt') && isNode(inner)) this.readStatement({ [kind]: inner }, scope);
      else this.#readSubstatements(inner, scope);
    }
  }

  #readConditions(expressions: unknown[], sources: Source[], scope: Source[]): void {
    for (const [left, right] of expressions.flatMap(listEqualities)) {
      this.#bind(left, right, sources, scope);
      this.#bind(right, left, sources, scope);
    }
  }

  #bind(side: unknown, otherSide: unknown, sources: Source[], scope: Source[]): void {
    const source = findProjectSource(side, sources);
    if (!source) return;
    const equatedSource = findProjectSource(otherSide, scope);
    if (equatedSource) source.equatedSources.push(equatedSource);
    else if (!isColumn(otherSide, sources)) source.isBound = true;
  }

  #report(verb: string, sources: Source[]): void {
    for (const source of sources) {
      const sourceVerb = source.isTarget ? verb : 'reads';
      if (source.table !== null) this.#tableUses.push({ verb: sourceVerb, source });
    }
  }
}

function createBoundSource(alias: string): Source {
  return { alias, table: null, equatedSources: [], isBound: true, isTarget: false };
}

function toSource(body: Node, outer: Source[], isTarget: boolean): Source {
  const { relname, alias } = body as { relname: string; alias?: { aliasname: string } };
  const isCte = outer.some((source) => source.table === null && source.alias === relname);
  const table = PROJECT_TABLES.has(relname) && !isCte ? relname : null;
  return {
    alias: alias?.aliasname ?? relname,
    table,
    equatedSources: [],
    isBound: table === null,
    isTarget,
  };
}

function isBoundToProject(source: Source, visited: Set<Source>): boolean {
  if (source.isBound) return true;
  if (visited.has(source)) return false;
  visited.add(source);
  return source.equatedSources.some((equatedSource) => isBoundToProject(equatedSource, visited));
}

/** Equates the items of `join … using ("projectId", …)`. */
function equateUsing(join: Node, sources: Source[]): void {
  const names = ((join.usingClause ?? []) as { String: { sval: string } }[]).map(
    ({ String: { sval } }) => sval,
  );
  if (!names.includes('projectId')) return;
  const right = sources.at(-1);
  for (const left of sources.slice(0, -1)) {
    right?.equatedSources.push(left);
    if (right) left.equatedSources.push(right);
  }
}

function listJoinConditions(from: unknown): unknown[] {
  if (Array.isArray(from)) return from.flatMap(listJoinConditions);
  if (!isNode(from) || !isNode(from.JoinExpr)) return [];
  const { larg, rarg, quals } = from.JoinExpr;
  return [quals, ...listJoinConditions(larg), ...listJoinConditions(rarg)];
}

/**
 * Returns pairs that must be equal for the expression to be true. Compares row expressions member by member.
 */
function listEqualities(expression: unknown): [unknown, unknown][] {
  if (!isNode(expression)) return [];
  const [[kind, body]] = Object.entries(expression) as [[string, Node]];
  if (kind === 'BoolExpr') {
    const arms = (body.args as unknown[]).map(listEqualities);
    if (body.boolop === 'AND_EXPR') return arms.flat();
    return body.boolop === 'OR_EXPR' ? listCommonEqualities(arms) : [];
  }
  if (kind === 'SubLink' && body.subLinkType === 'ANY_SUBLINK') {
    return listMembers(body.testexpr).map((member) => [member, {}]);
  }
  if (kind === 'A_Expr' && body.kind === 'AEXPR_BETWEEN') return listRangeEqualities(body);
  if (kind !== 'A_Expr' || !['AEXPR_OP', 'AEXPR_OP_ANY', 'AEXPR_IN'].includes(String(body.kind))) {
    return [];
  }
  const [name] = body.name as { String: { sval: string } }[];
  const sign = name?.String.sval ?? '';
  if (sign !== '=') return [];
  const [left, right] = [listMembers(body.lexpr), listMembers(body.rexpr)];
  return left.map((member, index) => [member, right.length === left.length ? right[index] : {}]);
}

/** Returns the leading members of a row expression that have equal bounds in BETWEEN. */
function listRangeEqualities({ lexpr, rexpr }: Node): [unknown, unknown][] {
  const { List } = rexpr as { List: { items: unknown[] } };
  const [low = [], high = []] = List.items.map(listMembers);
  const format = (value: unknown) =>
    JSON.stringify(value, (name, inner) => (name === 'location' ? undefined : inner));
  const pairs = listMembers(lexpr).map((member, index): [unknown, unknown] => [member, low[index]]);
  const firstDifference = pairs.findIndex((_, index) => format(low[index]) !== format(high[index]));
  return firstDifference < 0 ? pairs : pairs.slice(0, firstDifference);
}

/** Returns the equalities of the first arm of an OR whose column all other arms compare too. */
function listCommonEqualities([firstArm = [], ...otherArms]: [unknown, unknown][][]): [
  unknown,
  unknown,
][] {
  const formatColumn = (side: unknown) => listColumnNames(side)?.join('.');
  return firstArm.filter(([left]) =>
    otherArms.every((arm) =>
      arm.some(([otherLeft]) => formatColumn(otherLeft) === formatColumn(left)),
    ),
  );
}

function listMembers(expression: unknown): unknown[] {
  if (isNode(expression) && isNode(expression.RowExpr)) return expression.RowExpr.args as unknown[];
  return [expression];
}

/** Returns the item whose project the expression identifies. */
function findProjectSource(expression: unknown, sources: Source[]): Source | null {
  const names = listColumnNames(expression);
  const column = names?.at(-1);
  if (!names || column === undefined) return null;
  if (names.length > 1) {
    const source = sources.find(({ alias }) => alias === names.at(-2));
    return source && identifiesProject(source, column) ? source : null;
  }
  const candidates = sources.filter((source) => identifiesProject(source, column));
  return candidates.find(({ table }) => table !== null) ?? candidates[0] ?? null;
}

function identifiesProject({ table }: Source, column: string): boolean {
  return column === 'projectId' || (table !== null && UNIQUE_IN_SERVICE[table] === column);
}

function isColumn(expression: unknown, sources: Source[]): boolean {
  const names = listColumnNames(expression);
  return (
    names !== null && sources.some(({ alias, table }) => table !== null && alias === names.at(-2))
  );
}

function listColumnNames(expression: unknown): string[] | null {
  if (!isNode(expression)) return null;
  const inner = isNode(expression.TypeCast) ? expression.TypeCast.arg : expression;
  if (!isNode(inner) || !isNode(inner.ColumnRef)) return null;
  return (inner.ColumnRef.fields as { String?: { sval: string } }[]).flatMap(
    ({ String: text }) => text?.sval ?? [],
  );
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
