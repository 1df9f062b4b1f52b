/** A connection to the coordinator of a cluster. Sends statements that Citus refuses to the shards of their projects. */
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { MISSED_PROCESSES } from '../../work/lease.ts';
import { type OnResult, Session, toPromise } from '../sessions/session.ts';
import type { NodeWatch } from './node-watch.ts';
import type { Nodes, Send } from './nodes.ts';
import {
  findRoute,
  listProjects,
  type ProjectParameter,
  STATEMENTS_MAX,
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

/** By the caller's text. */
const SHARD_QUERIES = new LRUCache<string, ShardQuery>({ max: STATEMENTS_MAX });

/** Commands in the spelling that Prisma sends. */
const TRANSACTION_COMMANDS = ['BEGIN', 'COMMIT', 'ROLLBACK'];

const SHARD_CALL = '"gateway_on_shards"($1 collate "C", $2, $3)';

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
): Promise<pg.QueryResult> {
  const { text: callerText, values = [], rowMode, types } = callerQuery;
  const shardQuery = await getShardQuery(send, callerText);
  const missedProcesses = callerText.includes(MISSED_PROCESSES)
    ? await nodes.formatMissedProcesses(send)
    : '';
  /** Runs the statement on the shard of the key, or on all shards of its node. */
  const runOnShard = (
    key: string,
    shardValues: readonly unknown[],
    { isWholeNode = false } = {},
  ): Promise<pg.QueryResult> => {
    const boundText = bindText(callerText, shardValues);
    const shardText = boundText.replaceAll(MISSED_PROCESSES, () => missedProcesses);
    const { text, suffix } = shardQuery;
    const queryValues = [key, isWholeNode, shardText + suffix];
    return send({ text, values: queryValues, rowMode, types, callerQuery });
  };
  if (route === 'eachNode') {
    const results = await nodes.queryEach({ send, session }, (key) =>
      runOnShard(key, values, { isWholeNode: true }),
    );
    return mergeResults(results);
  }
  const projects = listProjects(route, values);
  const [projectId = ''] = projects;
  if (projects.length <= 1) return await runOnShard(projectId, values);
  const results: pg.QueryResult[] = [];
  for (const shardProjects of await nodes.groupByShard(send, projects)) {
    const [key = ''] = shardProjects;
    results.push(await runOnShard(key, selectValues(route, values, shardProjects)));
  }
  return mergeResults(results);
}

function mergeResults(results: readonly pg.QueryResult[]): pg.QueryResult {
  const [first] = results as [pg.QueryResult, ...pg.QueryResult[]];
  const rows = results.flatMap((result) => result.rows);
  return { ...first, rows, rowCount: rows.length };
}

/** Calls the shard function for one caller's statement. */
interface ShardQuery {
  text: string;
  /** Appended to the caller's statement, because the function must return rows. */
  suffix: string;
}

async function getShardQuery(send: Send, callerText: string): Promise<ShardQuery> {
  const cachedQuery = SHARD_QUERIES.get(callerText);
  if (cachedQuery) return cachedQuery;
  const { fields } = await send(new Description({ text: callerText }));
  const shardQuery = await createShardQuery(send, fields);
  SHARD_QUERIES.set(callerText, shardQuery);
  return shardQuery;
}

/** PostgreSQL needs the types of the columns that the function returns. */
async function createShardQuery(
  send: Send,
  fields: readonly pg.FieldDef[] | undefined,
): Promise<ShardQuery> {
  if (!fields?.length)
    return {
      text: `select from ${SHARD_CALL} as changed_row("count" int)`,
      suffix: ' returning 1',
    };
  const { rows } = await send({
    text: `select format_type("oid", null) as "type" from unnest($1::oid[]) with ordinality as field("oid", "number")
      order by "number"`,
    values: [fields.map(({ dataTypeID }) => dataTypeID)],
  });
  const columns = rows.map(({ type }, index) => `c${index} ${type}`);
  const names = fields.map(({ name }, index) => `c${index} as ${pg.escapeIdentifier(name)}`);
  const text = `select ${names} from ${SHARD_CALL} as shard_row(${columns})`;
  return { text, suffix: '' };
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

/** Requests the columns of a statement without executing it. */
class Description extends pg.Query {
  override submit = (connection: pg.Connection): void => {
    const { text } = this as unknown as { text: string };
    connection.parse({ text, name: '' } as never, true);
    connection.describe({ type: 'S', name: '' } as never, true);
    connection.sync();
  };
}
