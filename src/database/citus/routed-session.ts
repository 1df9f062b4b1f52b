/** A connection to the coordinator of a cluster. Sends statements that Citus refuses to the shards of their projects. */
import pg from 'pg';
import { MISSED_PROCESSES } from '../../work/lease.ts';
import { COLUMN_TYPES } from '../column-types.ts';
import type { ResultField } from '../sessions/described-once.ts';
import { type OnResult, Session, toPromise } from '../sessions/session.ts';
import type { NodeWatch } from './node-watch.ts';
import type { Nodes, Send } from './nodes.ts';
import {
  findRoute,
  listProjects,
  type ProjectParameter,
  type StatementRoute,
  selectValues,
} from './statement-route.ts';

/** The arguments of pg's `query` that routing uses. */
interface CallerQuery {
  text: string;
  values?: unknown[];
  rowMode?: 'array';
  types?: pg.CustomTypesConfig;
}

/** The result columns of each text, requested once. */
const FIELDS = new Map<string, ResultField[]>();
/** A safety bound: the gateway has a few hundred texts. */
const TEXTS_MAX = 2_000;

/** Commands in the spelling that Prisma sends. */
const TRANSACTION_COMMANDS = ['BEGIN', 'COMMIT', 'ROLLBACK'];

const ON_SHARDS = 'select * from "gateway_on_shards"($1 collate "C", $2, $3)';

interface NodeAccess {
  nodes: Nodes;
  watch: NodeWatch;
}

/** Returns the class of sessions that use these nodes. */
export function createRoutedSession({ nodes, watch }: NodeAccess): typeof Session {
  return class RoutedSession extends Session {
    /** The nodes that the current transaction has used. Its commit waits for them. */
    readonly #usedNodes = new Set<number>();

    override query(config: unknown, values?: unknown, onResult?: unknown): never {
      const [boundValues, callback] =
        typeof values === 'function' ? [undefined, values] : [values, onResult];
      const callerQuery = findCallerQuery(config, boundValues);
      if (!callerQuery) return super.query(config, values, onResult);
      const { text } = callerQuery;
      const route = findRoute(text);
      const isPlanned = route === 'planned' || route === 'allNodes';
      const isCommit = text === 'COMMIT';
      const awaitedNodes = isCommit
        ? [...this.#usedNodes]
        : listAwaitedNodes(watch, callerQuery, route);
      if (TRANSACTION_COMMANDS.includes(text)) this.#usedNodes.clear();
      else for (const node of awaitedNodes) this.#usedNodes.add(node);
      if (isPlanned && awaitedNodes.length === 0) return super.query(config, values, onResult);
      const send = (statement: object) => super.query(statement) as Promise<pg.QueryResult>;
      const run = (onEnd: OnResult) => {
        // A commit is never refused, so that no transaction stays open.
        const refusal = isCommit ? null : watch.findRefusal(awaitedNodes);
        // Deferred, because callers expect the callback after the call returns.
        if (refusal) return process.nextTick(onEnd, refusal);
        const onStatementEnd = watch.watchStatement(awaitedNodes, this, onEnd);
        if (isPlanned) return void super.query(config, boundValues, onStatementEnd);
        void queryShards({ send, nodes, session: this }, callerQuery, route).then(
          (result) => onStatementEnd(null, result),
          onStatementEnd,
        );
      };
      if (!callback) return toPromise(run) as never;
      run(callback as OnResult);
      return undefined as never;
    }
  };
}

/** Returns a function that refuses a statement before it takes a connection, if it would wait for a node that is away. */
export function createRefusalFinder(watch: NodeWatch) {
  return (config: unknown, values?: unknown): Error | null => {
    if (!watch.isAnyAway) return null;
    const callerQuery = findCallerQuery(config, values);
    if (!callerQuery) return null;
    const route = findRoute(callerQuery.text);
    return watch.findRefusal(listAwaitedNodes(watch, callerQuery, route));
  };
}

function findCallerQuery(config: unknown, values: unknown): CallerQuery | null {
  if (typeof config === 'string') return { text: config, values: (values as unknown[]) ?? [] };
  const { text } = config as Partial<CallerQuery>;
  return typeof text === 'string' ? (config as CallerQuery) : null;
}

/** Returns the nodes that a statement waits for. */
function listAwaitedNodes(
  watch: NodeWatch,
  { values = [] }: CallerQuery,
  route: StatementRoute,
): number[] {
  switch (route) {
    case 'planned':
      return watch.listStatementNodes(values);
    case 'allNodes':
      return watch.listAllNodes();
    case 'eachNode':
      // The statement skips nodes that are away.
      return [];
    default:
      return watch.listStatementNodes(listProjects(route, values));
  }
}

interface ShardAccess {
  send: Send;
  nodes: Nodes;
  session: Session;
}

/** Sends the statement to shards, and returns the rows of all of them as one result. */
async function queryShards(
  { send, nodes, session }: ShardAccess,
  callerQuery: CallerQuery,
  route: ProjectParameter | 'eachNode',
) {
  const { text: callerText, values = [] } = callerQuery;
  const fields = await describeFields(send, callerText);
  const missedProcesses = callerText.includes(MISSED_PROCESSES)
    ? await nodes.formatMissedProcesses(send)
    : '';
  /** Runs the statement on the shard of the key, or on all shards of its node. Returns rows in their text form. */
  const runOnShard = async (
    key: string,
    shardValues: readonly unknown[],
    { isWholeNode = false } = {},
  ) => {
    const boundText = bindText(callerText, shardValues);
    const text = boundText.replaceAll(MISSED_PROCESSES, () => missedProcesses);
    const { rows } = await send({
      text: ON_SHARDS,
      values: [key, isWholeNode, fields.length > 0 ? text : `${text} returning 1`],
      rowMode: 'array',
      callerQuery,
    });
    return (rows as unknown as [string][]).map(([line]) => line);
  };
  const queryRoute = async (): Promise<string[]> => {
    if (route === 'eachNode') {
      return await nodes.queryEach({ send, session }, (key) =>
        runOnShard(key, values, { isWholeNode: true }),
      );
    }
    const projects = listProjects(route, values);
    const [projectId = ''] = projects;
    if (projects.length <= 1) return await runOnShard(projectId, values);
    const lines: string[] = [];
    for (const shardProjects of await nodes.groupByShard(send, projects)) {
      const [key = ''] = shardProjects;
      lines.push(...(await runOnShard(key, selectValues(route, values, shardProjects))));
    }
    return lines;
  };
  const lines = await queryRoute();
  const rows = lines.map((line) => toRow(parseComposite(line), fields, callerQuery));
  return { command: 'SELECT', rowCount: rows.length, rows, fields, oid: 0 };
}

/** Returns the text with its values as constants, which have the types that parameters would have. */
export function bindText(text: string, values: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_, number) => formatLiteral(values[Number(number) - 1]));
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

async function describeFields(send: Send, text: string): Promise<ResultField[]> {
  const cachedFields = FIELDS.get(text);
  if (cachedFields) return cachedFields;
  const { fields = [] } = await send(new Description({ text }));
  if (FIELDS.size < TEXTS_MAX) FIELDS.set(text, fields as ResultField[]);
  return fields as ResultField[];
}

/** Requests the columns of a statement without executing it. */
class Description extends pg.Query {
  readonly callerQuery = null;
  override submit = (connection: pg.Connection): void => {
    const { text } = this as unknown as { text: string };
    connection.parse({ text, name: '' } as never, true);
    connection.describe({ type: 'S', name: '' } as never, true);
    connection.sync();
  };
}

function toRow(
  texts: (string | null)[],
  fields: readonly ResultField[],
  { rowMode, types = COLUMN_TYPES }: CallerQuery,
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

/** Parses a row in PostgreSQL's text form: `(a,"b, c",)`. */
export function parseComposite(row: string): (string | null)[] {
  const values: (string | null)[] = [];
  VALUE.lastIndex = 1;
  for (let match = VALUE.exec(row); match; match = VALUE.exec(row)) {
    const [, quoted, unquoted, end] = match;
    values.push(quoted === undefined ? unquoted || null : quoted.replace(/(["\\])([\s\S])/g, '$2'));
    if (end === ')') break;
  }
  return values;
}
