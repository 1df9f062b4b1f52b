/** The nodes of a cluster that have shards, and how statements over all projects reach them. */
import type pg from 'pg';
import type { Log } from '../../log.ts';
import { MISSED_PROCESSES } from '../../work/lease.ts';
import { Outage } from '../../work/outage.ts';
import { type CancelableSession, createRefusal, type NodeWatch } from './node-watch.ts';
import { ANCHOR } from './table-placement.ts';

/** Sends a statement on the caller's session. */
export type Send = (statement: object) => Promise<pg.QueryResult>;

/** Shards rarely move. The next refresh finds a moved shard. */
const NODES_AGE_MS_MAX = 5_000;
/** The interval between attempts to query a node that failed. */
const RETRY_MS = 5_000;

/**
 * Selects for each node a key that hashes to one of its shards. The subquery calls the function once for each key. In a
 * join condition, it would be called for each pair of a key and a shard of any table, which takes seconds.
 */
const KEYS = `
  select distinct on (placement.groupid) shard_key."number"::text as "key", placement.groupid as "id"
  from (
    select min("number") as "number", get_shard_id_for_distribution_column('"${ANCHOR}"', "number"::text) as "shard"
    from generate_series(1, 4000) "number" group by 2
  ) shard_key
  join pg_dist_placement placement on placement.shardid = shard_key."shard"
  order by placement.groupid, shard_key."number"`;

const PROJECTS_BY_SHARD = `
  select array_agg("projectId") as "projects" from unnest($1::text[]) "projectId"
  group by get_shard_id_for_distribution_column('"${ANCHOR}"', "projectId")`;

interface ShardNode {
  id: number;
  /** Hashes to a shard of the node. */
  key: string;
}

export class Nodes {
  readonly #outages = new Map<number, Outage>();
  readonly #skippedUntilMs = new Map<number, number>();
  readonly #log: Log;
  readonly #watch: NodeWatch;
  #nodes: Promise<ShardNode[]> | null = null;
  #nodesReadMs = Number.NEGATIVE_INFINITY;

  constructor(watch: NodeWatch, log: Log) {
    this.#watch = watch;
    this.#log = log;
  }

  /** Returns the results of the nodes that respond, one node after the other. Throws if none responds. */
  async queryEach<T>(
    { send, session }: { send: Send; session: CancelableSession },
    query: (key: string) => Promise<T>,
  ): Promise<T[]> {
    const nodes = await this.#list(send);
    const results: T[] = [];
    let lastError: unknown;
    for (const { id, key } of nodes.filter((node) => this.#isAvailable(node))) {
      try {
        results.push(await this.#watch.watchWork(id, session, () => query(key)));
        this.#outages.get(id)?.end();
      } catch (error) {
        lastError = error;
        this.#recordFailure(id, error);
      }
    }
    if (results.length === 0) throw lastError ?? createRefusal();
    return results;
  }

  /** Groups projects whose rows are on one shard. */
  async groupByShard(send: Send, projects: readonly string[]): Promise<string[][]> {
    const { rows } = await send({ text: PROJECTS_BY_SHARD, values: [projects] });
    return rows.map((row) => row.projects);
  }

  /** Returns SQL: the ids of the processes whose leases are free, as constants. Only the coordinator has these rows. */
  async formatMissedProcesses(send: Send): Promise<string> {
    const text = `select quote_literal(${MISSED_PROCESSES}) || '::text[]' as "ids"`;
    const { rows } = await send({ text });
    return rows[0].ids;
  }

  #isAvailable({ id }: ShardNode): boolean {
    const skippedUntilMs = this.#skippedUntilMs.get(id) ?? 0;
    return performance.now() >= skippedUntilMs && !this.#watch.isAway(id);
  }

  #recordFailure(id: number, error: unknown): void {
    const outage = this.#outages.get(id) ?? new Outage(this.#log, 'node.failed');
    this.#outages.set(id, outage);
    outage.recordFailure(error);
    this.#skippedUntilMs.set(id, performance.now() + RETRY_MS);
    this.#nodes = null;
  }

  async #list(send: Send): Promise<ShardNode[]> {
    if (!this.#nodes || performance.now() > this.#nodesReadMs + NODES_AGE_MS_MAX) {
      this.#nodesReadMs = performance.now();
      this.#nodes = send({ text: KEYS }).then(({ rows }) => rows);
      this.#nodes.catch(() => {
        this.#nodes = null;
      });
    }
    return await this.#nodes;
  }
}
