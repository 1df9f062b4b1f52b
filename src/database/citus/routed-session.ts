/** A connection to the coordinator of a cluster. Sends statements that Citus refuses to the shards of their projects. */
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { ServiceUnavailable } from '../../errors.ts';
import { MISSED_PROCESSES } from '../../work/lease.ts';
import { type OnResult, Session, toPromise } from '../sessions/session.ts';
import { createRefusal, type NodeWatch } from './node-watch.ts';
import type { Placements } from './placements.ts';
import {
  findRoute,
  listProjects,
  type ProjectParameter,
  STATEMENTS_MAX,
  selectValues,
} from './statement-route.ts';

/** The arguments of pg's `query` that routing uses. */
interface CallerQuery {
  text: string;
  values?: unknown[];
  rowMode?: 'array';
  types?: pg.CustomTypesConfig;
}

interface NodeAccess {
  placements: Placements;
  watch: NodeWatch;
}

/** Returns the class of sessions that use these nodes. */
export function createRoutedSession(access: NodeAccess): typeof Session {
  const { watch } = access;
  return class RoutedSession extends Session {
    /** The nodes that statements have used since the last transaction began. Its commit waits for them. */
    readonly #usedNodes = new Set<number>();

    override query(config: unknown, values?: unknown, onResult?: unknown): never {
      const [boundValues, callback] =
        typeof values === 'function' ? [undefined, values] : [values, onResult];
      const callerQuery = findCallerQuery(config, boundValues);
      if (!callerQuery) return super.query(config, values, onResult);
      const { text } = callerQuery;
      const route = findRoute(text);
      const isPlanned = route === 'planned' || route === 'allNodes';
      // Prisma sends these commands in capital letters.
      const isCommit = text === 'COMMIT';
      if (text === 'BEGIN') this.#usedNodes.clear();
      const nodes = isCommit ? [...this.#usedNodes] : listAwaitedNodes(access, callerQuery);
      for (const node of nodes) this.#usedNodes.add(node);
      if (isPlanned && nodes.length === 0) return super.query(config, values, onResult);
      const send: Send = (statement) => super.query(statement);
      const run = (onEnd: OnResult) => {
        // A commit is never refused, so that no transaction stays open.
        const refusal = isCommit ? null : watch.findRefusal(nodes);
        // Deferred, because callers expect the callback after the call returns.
        if (refusal) return process.nextTick(onEnd, refusal);
        const endWatch = watch.begin(nodes, this);
        const onStatementEnd: OnResult = (error, result) => {
          endWatch(error);
          onEnd(error, result);
        };
        if (isPlanned) return void super.query(config, boundValues, onStatementEnd);
        void queryShards({ ...access, session: this, send }, callerQuery, route).then(
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
export function createRefusalFinder(access: NodeAccess) {
  return (config: unknown, values?: unknown): Error | null => {
    if (!access.watch.isAnyAway) return null;
    const callerQuery = findCallerQuery(config, values);
    return callerQuery && access.watch.findRefusal(listAwaitedNodes(access, callerQuery));
  };
}

function findCallerQuery(config: unknown, values: unknown): CallerQuery | null {
  if (typeof config === 'string') return { text: config, values: (values as unknown[]) ?? [] };
  const { text } = config as Partial<CallerQuery>;
  return typeof text === 'string' ? (config as CallerQuery) : null;
}

/** Returns the nodes that a statement waits for. A statement for each node skips nodes that are away. */
function listAwaitedNodes(
  { placements }: NodeAccess,
  { text, values = [] }: CallerQuery,
): number[] {
  const route = findRoute(text);
  if (route === 'allNodes') return placements.nodeIds;
  if (route === 'eachNode') return [];
  return placements.listNodes(route === 'planned' ? values : listProjects(route, values));
}

/** Sends a statement to the coordinator as it is. */
type Send = (statement: object) => Promise<pg.QueryResult>;

interface SessionContext extends NodeAccess {
  session: Session;
  send: Send;
}

/** Sends the statement to shards, and returns the rows of all of them as one result. */
async function queryShards(
  context: SessionContext,
  callerQuery: CallerQuery,
  route: ProjectParameter | 'eachNode',
): Promise<pg.QueryResult> {
  const { placements, send } = context;
  const { text: callerText, values = [], rowMode, types } = callerQuery;
  const { text, suffix } = await getShardQuery(send, callerText);
  const shardText = (await bindMissedProcesses(send, callerText)) + suffix;
  const runOnShards = (key: string, isWholeNode: boolean, shardValues: readonly unknown[]) => {
    const callValues = [key, isWholeNode, bindText(shardText, shardValues)];
    return send({ text, values: callValues, rowMode, types, callerQuery });
  };
  if (route === 'eachNode') return queryNodes(context, (key) => runOnShards(key, true, values));
  const projects = listProjects(route, values);
  const projectsByShard = placements.groupByShard(projects);
  const [anyProject = ''] = projects;
  if (projectsByShard.length <= 1) return await runOnShards(anyProject, false, values);
  const results: pg.QueryResult[] = [];
  for (const shardProjects of projectsByShard) {
    const [key = ''] = shardProjects;
    results.push(await runOnShards(key, false, selectValues(route, values, shardProjects)));
  }
  return mergeResults(results);
}

/** Returns the rows of the nodes that respond. Queries one node after the other. Throws if none responds. */
async function queryNodes(
  { placements, watch, session, send }: SessionContext,
  queryNode: (key: string) => Promise<pg.QueryResult>,
): Promise<pg.QueryResult> {
  const query = async (text: string) => (await send({ text })).rows;
  const results: pg.QueryResult[] = [];
  let failure: unknown = createRefusal();
  for (const { id, key } of await placements.readNodes(query)) {
    if (watch.isAway(id)) continue;
    const endWatch = watch.begin([id], session);
    try {
      results.push(await queryNode(key));
      endWatch(null);
    } catch (error) {
      endWatch(error);
      if (!(error instanceof ServiceUnavailable)) throw error;
      failure = error;
    }
  }
  if (results.length === 0) throw failure;
  return mergeResults(results);
}

function mergeResults(results: readonly pg.QueryResult[]): pg.QueryResult {
  const [firstResult] = results as [pg.QueryResult, ...pg.QueryResult[]];
  const rows = results.flatMap((result) => result.rows);
  return { ...firstResult, rows, rowCount: rows.length };
}

/** A call of the shard function for one statement of a caller. */
interface ShardQuery {
  text: string;
  /** Appended to the caller's statement, because the function must return rows. */
  suffix: string;
}

/** By the caller's text. */
const SHARD_QUERIES = new LRUCache<string, ShardQuery>({ max: STATEMENTS_MAX });

const SHARD_CALL = '"gateway_on_shards"($1 collate "C", $2, $3)';

async function getShardQuery(send: Send, callerText: string): Promise<ShardQuery> {
  const cachedQuery = SHARD_QUERIES.get(callerText);
  if (cachedQuery) return cachedQuery;
  const { fields = [] } = await send(new Description({ text: callerText }));
  const shardQuery = await createShardQuery(send, fields);
  SHARD_QUERIES.set(callerText, shardQuery);
  return shardQuery;
}

/** Lists the types of the columns, because PostgreSQL requires them of a function that returns any rows. */
async function createShardQuery(send: Send, fields: readonly pg.FieldDef[]): Promise<ShardQuery> {
  if (fields.length === 0) {
    const text = `select from ${SHARD_CALL} as changed_row("number" int)`;
    return { text, suffix: ' returning 1' };
  }
  const { rows } = await send({
    text: `select format_type("id", null) as "type" from unnest($1::oid[]) with ordinality as column_type("id", "number")
      order by "number"`,
    values: [fields.map(({ dataTypeID }) => dataTypeID)],
  });
  const columns = rows.map(({ type }, index) => `c${index} ${type}`);
  const names = fields.map(({ name }, index) => `c${index} as ${pg.escapeIdentifier(name)}`);
  return { text: `select ${names} from ${SHARD_CALL} as shard_row(${columns})`, suffix: '' };
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

/** Replaces the query for ended processes by their ids. Only the coordinator has the table of processes. */
async function bindMissedProcesses(send: Send, text: string): Promise<string> {
  if (!text.includes(MISSED_PROCESSES)) return text;
  const { rows } = await send({ text: `select quote_literal(${MISSED_PROCESSES}) as "ids"` });
  return text.replaceAll(MISSED_PROCESSES, () => `${rows[0].ids}::text[]`);
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
