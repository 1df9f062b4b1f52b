/** A connection to the coordinator of a cluster. Sends statements that Citus refuses to the shards of their projects. */
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { ServiceUnavailable } from '../../kernel/errors.ts';
import { DatabaseSession } from '../connect/sessions/database-session.ts';
import { type OnResult, toPromise } from '../connect/sessions/results.ts';
import { MISSED_PROCESSES } from '../leases/lease.ts';
import { createRefusal, type NodeWatch } from './node-watch.ts';
import type { ProjectLocations } from './project-locations.ts';
import {
  getRoute,
  listProjects,
  type ProjectParameter,
  STATEMENTS_MAX,
  selectValues,
} from './statement-route.ts';

interface NodeAccess {
  locations: ProjectLocations;
  watch: NodeWatch;
}

/** Returns the class of sessions that use these nodes. */
export function createRoutedSession(access: NodeAccess): typeof DatabaseSession {
  return class extends RoutedSession {
    override readonly access = access;
  };
}

/** Returns a function that refuses a statement before it takes a connection, if it would wait for a node that is unreachable. */
export function createRefusalFinder(access: NodeAccess) {
  return (config: unknown, values?: unknown): Error | null => {
    if (!access.watch.isAnyUnreachable) return null;
    const pgQuery = findPgQuery(config, values);
    return pgQuery && access.watch.findRefusal(listAwaitedNodes(access, pgQuery));
  };
}

/** The arguments of pg's `query` that routing uses. */
interface PgQuery {
  text: string;
  values?: unknown[];
  rowMode?: 'array';
  types?: pg.CustomTypesConfig;
}

/** A statement that routing sends to the coordinator. */
interface CoordinatorStatement {
  text?: string;
  values?: unknown[];
  rowMode?: 'array' | undefined;
  types?: pg.CustomTypesConfig | undefined;
  /** The caller's statement that this one stands for, whose text spans show. Null if this one only prepares one. */
  callerQuery?: PgQuery | null;
}

function findPgQuery(config: unknown, values: unknown): PgQuery | null {
  if (typeof config === 'string') return { text: config, values: (values as unknown[]) ?? [] };
  const { text } = config as Partial<PgQuery>;
  return typeof text === 'string' ? (config as PgQuery) : null;
}

/** Returns the nodes without which a statement fails. A statement for each node skips nodes that fail. */
function listAwaitedNodes({ locations }: NodeAccess, { text, values = [] }: PgQuery): number[] {
  const route = getRoute(text);
  if (route === 'allNodes') return locations.nodeIds;
  if (route === 'coordinator' || route === 'eachNode') return [];
  return locations.listNodes(route === 'plannedByCitus' ? values : listProjects(route, values));
}

type ShardsRoute = ProjectParameter | 'eachNode';

/** SQLSTATE of a statement that returns other columns than its call lists. It is rolled back. */
const DATATYPE_MISMATCH = '42804';

/** A call of the shard function for one text of a caller. */
interface ShardQuery {
  /** Lists the types of the columns, as PostgreSQL requires for a function that returns any rows. */
  text: string;
  /** The caller's text in the syntax of PostgreSQL's `format`, which inserts the values as constants. */
  template: string;
}

/** By the caller's text. */
const SHARD_QUERIES = new LRUCache<string, ShardQuery>({ max: STATEMENTS_MAX });

abstract class RoutedSession extends DatabaseSession {
  abstract readonly access: NodeAccess;
  /** The nodes that statements have used since the last transaction began. Its commit waits for them. */
  readonly #usedNodes = new Set<number>();

  override query(config: unknown, values?: unknown, onResult?: unknown): never {
    const [boundValues, callback] =
      typeof values === 'function' ? [undefined, values] : [values, onResult];
    const pgQuery = findPgQuery(config, boundValues);
    if (!pgQuery) return super.query(config, values, onResult);
    const { text } = pgQuery;
    const route = getRoute(text);
    const isPlannedByCitus = typeof route === 'string' && route !== 'eachNode';
    // Prisma sends these commands in capital letters.
    const isCommit = text === 'COMMIT';
    if (text === 'BEGIN') this.#usedNodes.clear();
    const nodes = isCommit ? [...this.#usedNodes] : listAwaitedNodes(this.access, pgQuery);
    for (const node of nodes) this.#usedNodes.add(node);
    if (isPlannedByCitus && nodes.length === 0) return super.query(config, values, onResult);
    const run = (onEnd: OnResult) => {
      const { watch } = this.access;
      // A commit is never refused, so that no transaction stays open.
      const refusal = isCommit ? null : watch.findRefusal(nodes);
      // Deferred, because callers expect the callback after the call returns.
      if (refusal) return process.nextTick(onEnd, refusal);
      const endWatch = watch.begin(nodes, this);
      const onStatementEnd: OnResult = (error, result) => {
        endWatch(error);
        onEnd(error, result);
      };
      if (isPlannedByCitus) return void super.query(config, boundValues, onStatementEnd);
      void this.#queryCurrentShards(pgQuery, route).then(
        (result) => onStatementEnd(null, result),
        onStatementEnd,
      );
    };
    if (!callback) return toPromise(run) as never;
    run(callback as OnResult);
    return undefined as never;
  }

  /** Describes the columns again if a migration has changed them. */
  async #queryCurrentShards(pgQuery: PgQuery, route: ShardsRoute): Promise<pg.QueryResult> {
    try {
      return await this.#queryShards(pgQuery, route);
    } catch (error) {
      if ((error as pg.DatabaseError).code !== DATATYPE_MISMATCH) throw error;
      SHARD_QUERIES.delete(pgQuery.text);
      // A failed transaction can only be repeated from its beginning, by its caller.
      if (this.getTransactionStatus() !== 'I') throw error;
      return await this.#queryShards(pgQuery, route);
    }
  }

  /** Sends the statement to shards, and returns the rows of all of them as one result. */
  async #queryShards(pgQuery: PgQuery, route: ShardsRoute): Promise<pg.QueryResult> {
    const { values = [], rowMode, types } = pgQuery;
    const projects = route === 'eachNode' ? [] : listProjects(route, values);
    // A node without projects depends on no other node. No row belongs to an empty list of projects.
    if (route !== 'eachNode' && projects.length === 0) return createEmptyResult();
    const { text, template } = await this.#getShardQuery(pgQuery);
    const boundTemplate = await this.#bindMissedProcesses(template);
    const runOnShards = (key: string, isWholeNode: boolean, shardValues: readonly unknown[]) => {
      const callValues = [key, isWholeNode, boundTemplate, ...shardValues];
      return this.#send({ text, values: callValues, rowMode, types, callerQuery: pgQuery });
    };
    if (route === 'eachNode') return this.#queryNodes((key) => runOnShards(key, true, values));
    const projectsByShard = this.access.locations.groupByShard(projects);
    if (projectsByShard.length === 1) {
      return await runOnShards(projects[0] as string, false, values);
    }
    const results: pg.QueryResult[] = [];
    for (const shardProjects of projectsByShard) {
      const [key = ''] = shardProjects;
      results.push(await runOnShards(key, false, selectValues(route, values, shardProjects)));
    }
    return mergeResults(results);
  }

  /** Returns the rows of the nodes that respond. Queries one node after the other. Throws if none responds. */
  async #queryNodes(queryNode: (key: string) => Promise<pg.QueryResult>): Promise<pg.QueryResult> {
    const { locations, watch } = this.access;
    const nodes = await locations.readNodes(async (text) => (await this.#send({ text })).rows);
    const results: pg.QueryResult[] = [];
    let failure: unknown = createRefusal();
    for (const { id, key } of nodes) {
      if (watch.isSuspect(id)) continue;
      const endWatch = watch.begin([id], this);
      try {
        results.push(await queryNode(key));
        endWatch(null);
      } catch (error) {
        endWatch(error);
        // Without a connection, the next node can't be queried.
        if (!(error instanceof ServiceUnavailable) || this.connection.stream.destroyed) throw error;
        failure = error;
      }
    }
    if (results.length === 0) throw failure;
    return mergeResults(results);
  }

  async #getShardQuery({ text, values = [] }: PgQuery): Promise<ShardQuery> {
    const cachedQuery = SHARD_QUERIES.get(text);
    if (cachedQuery) return cachedQuery;
    const { fields = [] } = await this.#send(new Description({ text }));
    const { rows: types } = await this.#send({
      text: `select format_type("id", null) as "name"
        from unnest($1::oid[]) with ordinality as type("id", "number") order by "number"`,
      callerQuery: null,
      values: [fields.map(({ dataTypeID }) => dataTypeID)],
    });
    const parameters = values.map((_, index) => `$${index + 4}::text`);
    const names = fields.map(({ name }, index) => `c${index} as ${pg.escapeIdentifier(name)}`);
    const columns = types.map(({ name }, index) => `c${index} ${name}`);
    const template = text.replaceAll('%', '%%').replace(/\$(\d+)/g, '%$1$$L');
    // The function must return rows, also for a change that returns none.
    const hasRows = fields.length > 0;
    const shardQuery = {
      text: `select ${names}
        from "gateway_on_shards"($1 collate "C", $2, format($3, variadic array[${parameters}]::text[]))
        as shard_row(${hasRows ? columns : 'c0 int'})`,
      template: hasRows ? template : `${template} returning 1`,
    };
    SHARD_QUERIES.set(text, shardQuery);
    return shardQuery;
  }

  /** Replaces the query for ended processes by their ids. Only the coordinator has the table of processes. */
  async #bindMissedProcesses(text: string): Promise<string> {
    if (!text.includes(MISSED_PROCESSES)) return text;
    const { rows } = await this.#send({
      text: `select quote_literal(${MISSED_PROCESSES}) as "ids"`,
    });
    return text.replaceAll(MISSED_PROCESSES, () => `${rows[0].ids}::text[]`);
  }

  /** Sends a statement to the coordinator as it is. */
  #send(statement: CoordinatorStatement): Promise<pg.QueryResult> {
    return super.query(statement);
  }
}

function createEmptyResult(): pg.QueryResult {
  return { command: '', oid: 0, fields: [], rows: [], rowCount: 0 };
}

function mergeResults(results: readonly pg.QueryResult[]): pg.QueryResult {
  const [firstResult] = results as [pg.QueryResult, ...pg.QueryResult[]];
  const rows = results.flatMap((result) => result.rows);
  return { ...firstResult, rows, rowCount: rows.length };
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
