/** A connection to the coordinator of a cluster. Sends some statements directly to the node that stores their rows. */
import pg from 'pg';
import { MISSED_PROCESSES } from '../../work/lease.ts';
import { COLUMN_TYPES } from '../column-types.ts';
import { type OnResult, promised, Session } from '../sessions/session.ts';
import type { NodeWatch } from './node-watch.ts';
import type { Nodes } from './nodes.ts';
import { boundText, isForAllNodes, type Route, routeOf } from './statement-plan.ts';

/** The arguments of a query that matter here. */
interface Asked {
  text: string;
  values?: unknown[];
  rowMode?: 'array';
  types?: pg.CustomTypesConfig;
}

interface Field {
  name: string;
  dataTypeID: number;
}

/** The result columns of each text, requested once. */
const FIELDS = new Map<string, Field[]>();
/** A safety bound: the gateway has a few hundred texts. */
const TEXTS_MAX = 2_000;

/** As Prisma writes them. */
const AROUND_TRANSACTION = ['BEGIN', 'COMMIT', 'ROLLBACK'];

const ON_SHARDS = 'select * from "gateway_on_shards"($1 collate "C", $2, $3)';

interface Cluster {
  nodes: Nodes;
  watch: NodeWatch;
}

/** Returns the class of sessions that use these nodes. */
export function routedSessions({ nodes, watch }: Cluster): typeof Session {
  return class RoutedSession extends Session {
    /** The nodes that the current transaction has used. Its commit waits for them. */
    readonly #visited = new Set<number>();

    override query(config: unknown, values?: unknown, onAnswer?: unknown): never {
      const [bound, answered] =
        typeof values === 'function' ? [undefined, values] : [values, onAnswer];
      const asked = askedOf(config, bound);
      const route = asked && routeOf(asked.text, asked.values ?? []);
      const isCommit = asked?.text === 'COMMIT';
      const waitsFor = isCommit ? [...this.#visited] : asked ? nodesOf(watch, asked, route) : [];
      this.#visit(asked, waitsFor);
      if (!asked || (!route && waitsFor.length === 0)) return super.query(config, values, onAnswer);
      const send = (statement: object) => super.query(statement) as Promise<pg.QueryResult>;
      const run = (given: OnResult) => {
        // A commit is never refused, so that no transaction stays open.
        const refusal = isCommit ? null : watch.refusalOf(waitsFor);
        // Deferred, because callers expect the callback after the call returns.
        if (refusal) return process.nextTick(given, refusal);
        const take = watch.waiting(waitsFor, this, given);
        if (!route) return void super.query(config, bound, take);
        const ask = { send, nodes, asked, route, session: this };
        void runRouted(ask).then((result) => take(null, result), take);
      };
      if (!answered) return promised(run) as never;
      run(answered as OnResult);
      return undefined as never;
    }

    #visit(asked: Asked | null, nodes: readonly number[]): void {
      if (asked && AROUND_TRANSACTION.includes(asked.text)) this.#visited.clear();
      else for (const node of nodes) this.#visited.add(node);
    }
  };
}

/** Returns why a statement gets no connection: it would wait for a node that is away. */
export function refusalsOf(watch: NodeWatch) {
  return (config: unknown, values?: unknown): Error | null => {
    if (!watch.isAnyAway) return null;
    const asked = askedOf(config, values);
    if (!asked) return null;
    return watch.refusalOf(nodesOf(watch, asked, routeOf(asked.text, asked.values ?? [])));
  };
}

/** The nodes that a statement waits for. Statements that visit all nodes in turn skip those that are away. */
function nodesOf(watch: NodeWatch, { text, values = [] }: Asked, route: Route | null): number[] {
  if (route === 'everywhere') return [];
  if (route) return watch.nodesOf(route.projects);
  return isForAllNodes(text) ? watch.allNodes() : watch.nodesOf(values);
}

/** Sends a statement of the caller, or one that serves it. */
type Send = (statement: object) => Promise<pg.QueryResult>;

function askedOf(config: unknown, values: unknown): Asked | null {
  if (typeof config === 'string') return { text: config, values: (values as unknown[]) ?? [] };
  const { text } = config as Partial<Asked>;
  return typeof text === 'string' ? (config as Asked) : null;
}

async function runRouted({ send, nodes, asked, route, session }: Routing) {
  const fields = await fieldsOf(send, asked.text);
  const missed = asked.text.includes(MISSED_PROCESSES) ? await nodes.missedProcesses(send) : '';
  const ask: Ask = async (key, isWholeNode, values) => {
    const bound = boundText(asked.text, values).replaceAll(MISSED_PROCESSES, () => missed);
    const statement = fields.length > 0 ? bound : `${bound} returning 1`;
    const { rows } = await send({
      text: ON_SHARDS,
      values: [key, isWholeNode, statement],
      rowMode: 'array',
      asked,
    });
    return (rows as unknown as [string][]).map(([line]) => line);
  };
  const lines = await linesFrom({ send, nodes, asked, route, session, ask });
  const rows = lines.map((line) => rowOf(compositeValues(line), fields, asked));
  return { command: 'SELECT', rowCount: rows.length, rows, fields, oid: 0 };
}

/** Returns the rows that the statement has on the shard of a key, or on all shards of its node. */
type Ask = (key: string, isWholeNode: boolean, values: readonly unknown[]) => Promise<string[]>;

interface Routing {
  send: Send;
  nodes: Nodes;
  asked: Asked;
  route: Route;
  session: Session;
}

async function linesFrom(routing: Routing & { ask: Ask }): Promise<string[]> {
  const { send, nodes, asked, route, session, ask } = routing;
  const { values = [] } = asked;
  if (route === 'everywhere') {
    return await nodes.onEach({ send, session }, (key) => ask(key, true, values));
  }
  const { projects, of } = route;
  const [only = ''] = projects;
  if (projects.length <= 1) return await ask(only, false, values);
  const lines: string[] = [];
  for (const some of await nodes.byShard(send, projects)) {
    lines.push(...(await ask(some[0] ?? '', false, of(some))));
  }
  return lines;
}

async function fieldsOf(send: Send, text: string): Promise<Field[]> {
  let fields = FIELDS.get(text);
  if (!fields) {
    const description = new Description({ text });
    fields = ((await send(description)).fields ?? []) as Field[];
    if (FIELDS.size < TEXTS_MAX) FIELDS.set(text, fields);
  }
  return fields;
}

/** Requests the columns of a statement without executing it. */
class Description extends pg.Query {
  readonly asked = null;
  override submit = (connection: pg.Connection): void => {
    const { text } = this as unknown as { text: string };
    connection.parse({ text, name: '' } as never, true);
    connection.describe({ type: 'S', name: '' } as never, true);
    connection.sync();
  };
}

function rowOf(
  texts: (string | null)[],
  fields: readonly Field[],
  { rowMode, types = COLUMN_TYPES }: Asked,
) {
  const values = fields.map(({ dataTypeID }, index) => {
    const text = texts[index] ?? null;
    return text === null ? null : types.getTypeParser(dataTypeID, 'text')(text);
  });
  if (rowMode === 'array') return values;
  return Object.fromEntries(fields.map(({ name }, index) => [name, values[index]]));
}

/** A quoted or bare value and its delimiter. */
const VALUE = /(?:"((?:[^"\\]|""|\\[\s\S])*)"|([^,"()]*))([,)])/gy;

/** Parses a row that PostgreSQL has written as one text: `(a,"b, c",)`. */
export function compositeValues(row: string): (string | null)[] {
  const values: (string | null)[] = [];
  VALUE.lastIndex = 1;
  for (let match = VALUE.exec(row); match; match = VALUE.exec(row)) {
    const [, quoted, bare, end] = match;
    values.push(quoted === undefined ? bare || null : quoted.replace(/(["\\])([\s\S])/g, '$2'));
    if (end === ')') break;
  }
  return values;
}
