/**
 * Reads a statement and tells which tables of projects it asks without saying whose rows it means: no condition
 * compares their projectId with a value, or with the projectId of a table that has such a condition.
 */
import { loadModule, parseSync } from 'libpg-query';
import { Prisma } from '../../../src/database/generated/client.ts';

await loadModule();

/** Tables whose rows belong to a project. */
const OF_PROJECTS = new Set<string>(
  Object.values(Prisma.ModelName).filter(
    (table) => 'projectId' in Prisma[`${table}ScalarFieldEnum`],
  ),
);
/** A key is found by the hash of its value, which is unique in the service. */
const UNIQUE_ELSEWHERE: Record<string, string> = { ApiKey: 'hash' };

const ACROSS_PROJECTS = /^\/\* all projects: .+? \*\/\s/;

type Node = Record<string, unknown>;

/** What a statement lacks, in words; none if it is as it should be. */
export function missingProjects(text: string): string[] {
  const asksAll = ACROSS_PROJECTS.test(text);
  const { stmts = [] } = parseSync(text) as { stmts?: { stmt: Node }[] };
  return stmts.flatMap(({ stmt }) => {
    const reader = new Reader();
    reader.statement(stmt, []);
    return reader.missing().flatMap(({ words, isTarget }) => (isTarget || !asksAll ? words : []));
  });
}

/** A name of a FROM list, and whether it says whose rows it means. */
interface Source {
  alias: string;
  /** Null for what is no table of projects: what it gives was told before. */
  table: string | null;
  /** Another one's projectId is the same. */
  same: Source[];
  isBound: boolean;
  isTarget: boolean;
}

interface Missing {
  words: string;
  /** Whether it changes rows. */
  isTarget: boolean;
}

class Reader {
  readonly #read: { verb: string; source: Source }[] = [];
  readonly #inserted: Missing[] = [];

  /** Told when all is read: a member of a FROM list may be led by one whose condition comes later. */
  missing(): Missing[] {
    const unled = this.#read.filter(({ source }) => !isLed(source, new Set()));
    const words = unled.map(({ verb, source: { table, isTarget } }) => ({
      words: `${verb} ${table}`,
      isTarget,
    }));
    return [...this.#inserted, ...words];
  }

  statement(node: Node, outer: Source[]): void {
    const [[kind, body]] = Object.entries(node) as [[string, Node]];
    if (kind === 'SelectStmt') this.#select(body, outer);
    else if (kind === 'UpdateStmt') this.#change('updates', body, outer);
    else if (kind === 'DeleteStmt') this.#change('deletes', body, outer);
    else if (kind === 'InsertStmt') this.#insert(body, outer);
  }

  #select(body: Node, outer: Source[]): void {
    const ctes = this.#with(body, outer);
    for (const side of ['larg', 'rarg']) {
      if (body[side]) this.#select(body[side] as Node, [...outer, ...ctes]);
    }
    const sources = this.#sources((body.fromClause ?? []) as Node[], [...ctes, ...outer]);
    const scope = [...sources, ...outer, ...ctes];
    this.#conditions([body.whereClause, ...joinsOf(body.fromClause)], sources, scope);
    const rest = { ...body, larg: null, rarg: null, withClause: null, fromClause: null };
    this.#within(rest, scope);
    this.#report('reads', sources);
  }

  #change(verb: string, body: Node, outer: Source[]): void {
    const ctes = this.#with(body, outer);
    const target = sourceOf(body.relation as Node, ctes, true);
    const from = (body.fromClause ?? body.usingClause ?? []) as Node[];
    const sources = [target, ...this.#sources(from, [target, ...ctes, ...outer])];
    const scope = [...sources, ...outer, ...ctes];
    this.#conditions([body.whereClause, ...joinsOf(from)], sources, scope);
    this.#within(
      { ...body, relation: null, withClause: null, fromClause: null, usingClause: null },
      scope,
    );
    this.#report(verb, sources);
  }

  #insert(body: Node, outer: Source[]): void {
    const ctes = this.#with(body, outer);
    const { relname } = body.relation as { relname: string };
    const columns = ((body.cols ?? []) as { ResTarget: { name: string } }[]).map(
      ({ ResTarget }) => ResTarget.name,
    );
    if (OF_PROJECTS.has(relname) && columns.length > 0 && !columns.includes('projectId')) {
      this.#inserted.push({ words: `inserts into ${relname}`, isTarget: true });
    }
    this.#within({ ...body, withClause: null, relation: null }, [...outer, ...ctes]);
  }

  #with(body: Node, outer: Source[]): Source[] {
    const ctes: Source[] = [];
    const { ctes: nodes = [] } = (body.withClause ?? {}) as { ctes?: Node[] };
    for (const node of nodes) {
      const { ctename, ctequery } = node.CommonTableExpr as { ctename: string; ctequery: Node };
      ctes.push(known(ctename));
      this.statement(ctequery, [...outer, ...ctes]);
    }
    return ctes;
  }

  /** Of a FROM list; what stands in parentheses there is read as well. */
  #sources(from: Node[], outer: Source[]): Source[] {
    const sources: Source[] = [];
    const read = (node: Node): void => {
      const [[kind, body]] = Object.entries(node) as [[string, Node]];
      if (kind === 'RangeVar') sources.push(sourceOf(body, outer, false));
      else if (kind === 'JoinExpr') {
        read(body.larg as Node);
        read(body.rarg as Node);
        bindUsing(body, sources);
      } else {
        this.#within(body, [...sources, ...outer]);
        const { alias } = body as { alias?: { aliasname: string } };
        if (alias) sources.push(known(alias.aliasname));
      }
    };
    from.forEach(read);
    return sources;
  }

  /** Statements inside an expression. */
  #within(value: unknown, scope: Source[]): void {
    if (Array.isArray(value)) for (const one of value) this.#within(one, scope);
    if (!isNode(value)) return;
    for (const [kind, inner] of Object.entries(value)) {
      if (kind.endsWith('Stmt') && isNode(inner)) this.statement({ [kind]: inner }, scope);
      else this.#within(inner, scope);
    }
  }

  #conditions(expressions: unknown[], own: Source[], scope: Source[]): void {
    for (const [left, right] of expressions.flatMap(equalities)) {
      this.#bind(left, right, own, scope);
      this.#bind(right, left, own, scope);
    }
  }

  #bind(side: unknown, other: unknown, own: Source[], scope: Source[]): void {
    const source = projectOf(side, own);
    if (!source) return;
    const led = projectOf(other, scope);
    if (led) source.same.push(led);
    else if (!isColumnOf(other, own)) source.isBound = true;
  }

  #report(verb: string, sources: Source[]): void {
    for (const source of sources) {
      const own = source.isTarget ? verb : 'reads';
      if (source.table !== null) this.#read.push({ verb: own, source });
    }
  }
}

function known(alias: string): Source {
  return { alias, table: null, same: [], isBound: true, isTarget: false };
}

function sourceOf(body: Node, outer: Source[], isTarget: boolean): Source {
  const { relname, alias } = body as { relname: string; alias?: { aliasname: string } };
  const isCte = outer.some((one) => one.table === null && one.alias === relname);
  const table = OF_PROJECTS.has(relname) && !isCte ? relname : null;
  return {
    alias: alias?.aliasname ?? relname,
    table,
    same: [],
    isBound: table === null,
    isTarget,
  };
}

function isLed(source: Source, seen: Set<Source>): boolean {
  if (source.isBound) return true;
  if (seen.has(source)) return false;
  seen.add(source);
  return source.same.some((other) => isLed(other, seen));
}

/** `join … using ("projectId", …)` */
function bindUsing(join: Node, sources: Source[]): void {
  const names = ((join.usingClause ?? []) as { String: { sval: string } }[]).map(
    ({ String: { sval } }) => sval,
  );
  if (!names.includes('projectId')) return;
  const right = sources.at(-1);
  for (const left of sources.slice(0, -1)) {
    right?.same.push(left);
    if (right) left.same.push(right);
  }
}

function joinsOf(from: unknown): unknown[] {
  if (Array.isArray(from)) return from.flatMap(joinsOf);
  if (!isNode(from) || !isNode(from.JoinExpr)) return [];
  const { larg, rarg, quals } = from.JoinExpr;
  return [quals, ...joinsOf(larg), ...joinsOf(rarg)];
}

/** What must be equal for the expression to be true; of rows, member by member. */
function equalities(expression: unknown): [unknown, unknown][] {
  if (!isNode(expression)) return [];
  const [[kind, body]] = Object.entries(expression) as [[string, Node]];
  if (kind === 'BoolExpr') {
    const arms = (body.args as unknown[]).map(equalities);
    if (body.boolop === 'AND_EXPR') return arms.flat();
    return body.boolop === 'OR_EXPR' ? ofAll(arms) : [];
  }
  if (kind === 'SubLink' && body.subLinkType === 'ANY_SUBLINK') {
    return membersOf(body.testexpr).map((member) => [member, {}]);
  }
  if (kind === 'A_Expr' && body.kind === 'AEXPR_BETWEEN') return sameInRange(body);
  if (kind !== 'A_Expr' || !['AEXPR_OP', 'AEXPR_OP_ANY', 'AEXPR_IN'].includes(String(body.kind))) {
    return [];
  }
  const [name] = body.name as { String: { sval: string } }[];
  const sign = name?.String.sval ?? '';
  const [left, right] = [membersOf(body.lexpr), membersOf(body.rexpr)];
  if (sign !== '=') return [];
  return left.map((member, place) => [member, right.length === left.length ? right[place] : {}]);
}

/** Of a range of rows: the first members that have the same value at both ends. */
function sameInRange({ lexpr, rexpr }: Node): [unknown, unknown][] {
  const { List } = rexpr as { List: { items: unknown[] } };
  const [low = [], high = []] = List.items.map(membersOf);
  const text = (value: unknown) =>
    JSON.stringify(value, (name, inner) => (name === 'location' ? undefined : inner));
  const pairs = membersOf(lexpr).map((member, place): [unknown, unknown] => [member, low[place]]);
  const differs = pairs.findIndex((_, place) => text(low[place]) !== text(high[place]));
  return differs < 0 ? pairs : pairs.slice(0, differs);
}

/** Those of the first arm whose column every other arm compares too. */
function ofAll([first = [], ...others]: [unknown, unknown][][]): [unknown, unknown][] {
  const names = (side: unknown) => columnOf(side)?.join('.');
  return first.filter(([left]) =>
    others.every((arm) => arm.some(([other]) => names(other) === names(left))),
  );
}

function membersOf(expression: unknown): unknown[] {
  if (isNode(expression) && isNode(expression.RowExpr)) return expression.RowExpr.args as unknown[];
  return [expression];
}

/** The source whose projectId the expression is. */
function projectOf(expression: unknown, sources: Source[]): Source | null {
  const names = columnOf(expression);
  const column = names?.at(-1);
  if (!names || column === undefined) return null;
  if (names.length > 1) {
    const source = sources.find(({ alias }) => alias === names.at(-2));
    return source && tellsProject(source, column) ? source : null;
  }
  const able = sources.filter((source) => tellsProject(source, column));
  return able.find(({ table }) => table !== null) ?? able[0] ?? null;
}

function tellsProject({ table }: Source, column: string): boolean {
  return column === 'projectId' || (table !== null && UNIQUE_ELSEWHERE[table] === column);
}

function isColumnOf(expression: unknown, sources: Source[]): boolean {
  const names = columnOf(expression);
  return (
    names !== null && sources.some(({ alias, table }) => table !== null && alias === names.at(-2))
  );
}

function columnOf(expression: unknown): string[] | null {
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
