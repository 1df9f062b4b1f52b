/**
 * A standby that is read for callers who accept rows of some age. For each read it is known how old its rows are, and
 * that they have what the caller has written, by whichever process: the primary is asked for its position, on the
 * connection that tells of changes. If it lags, fails or is away, it is not read.
 */
import type pg from 'pg';
import { ServiceUnavailable } from '../../errors.ts';
import { createLog, type Log } from '../../log.ts';
import { type Backoff, backoffMs } from '../../work/backoff.ts';
import { coalesced } from '../../work/coalesced.ts';
import { withDeadline } from '../../work/deadline.ts';
import { Outage } from '../../work/outage.ts';
import { CALLERS_CHANNEL } from '../changes/hint-channels.ts';
import { rowsBy } from '../clients.ts';
import { COLUMN_TYPES } from '../column-types.ts';
import type { Replica } from '../database.ts';
import type { OnHint } from '../hints/notifications.ts';
import { Outages } from '../outages.ts';
import { ReadPositions } from '../reads/read-positions.ts';
import type { Rows, RunQuery } from '../rows.ts';
import { setUp } from '../sessions/session.ts';
import { SessionPool } from '../sessions/session-pool.ts';
import type { PostgresHints } from './hints.ts';

/** A caller who could have asked the primary waits no longer for either position. */
const POSITIONS_MAX_MS = 500;
/** Of a statement: the primary does it if the standby takes longer. */
const STATEMENT_MAX_MS = 2_000;
/** After a failure it is left alone for a while. */
const REST: Backoff = { firstMs: 1_000, maxMs: 5_000, jitter: 0.3 };

/** Of the insertion: a commit that is visible already may not be written yet. */
const POSITION = `pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as "position"`;
const CHANGED = `with here as materialized (select ${POSITION})
  select "position", pg_notify('${CALLERS_CHANNEL}', "position" || ' ' || $1) from here`;
/** Null of a server that takes changes: it is no standby, or none any more. */
const REPLAYED = `select case when pg_is_in_recovery()
  then pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::text end as "position"`;
/** A standby is a copy of the whole server. */
const IDENTITY = `select system_identifier || ' ' || oid as "identity" from pg_control_system(), pg_database
  where datname = current_database()`;

interface Primary {
  query: RunQuery;
  hints: Pick<PostgresHints, 'ask' | 'listen'>;
}

export interface ReplicaOptions {
  url: string;
  size: number;
  limitMs: number;
  /** As in PoolOptions. */
  plansOnce: boolean;
  log: Log;
}

export class PostgresReplica implements Replica, AsyncDisposable {
  readonly rows: Rows;
  readonly #primary: Primary;
  readonly #sessions: SessionPool;
  readonly #resting: Resting;
  readonly #positions = new ReadPositions();
  readonly #listening: AsyncDisposable;

  constructor(primary: Primary, { url, size, limitMs, plansOnce, log }: ReplicaOptions) {
    this.#primary = primary;
    this.#resting = new Resting(log);
    this.#sessions = new SessionPool({
      address: { connectionString: url },
      name: 'integration-gateway replica',
      limitMs: Math.min(limitMs, STATEMENT_MAX_MS),
      // Its failures are not told as an outage of the database.
      outages: new Outages(createLog('silent')),
      size,
      types: COLUMN_TYPES,
      pipeline: true,
      onConnect: async (client) => {
        await setUp(client, { plansOnce });
        await refuseOther(client, primary.query);
      },
    });
    this.rows = rowsBy(this.#sessions);
    this.#listening = primary.hints.listen(CALLERS_CHANNEL, this.#hear);
  }

  ageFor = async (caller: string): Promise<number | null> => {
    if (this.#resting.isOn()) return null;
    try {
      await soon(this.#sample());
    } catch {
      // The primary's failure.
      return null;
    }
    try {
      const replayed = await soon(this.#replayed());
      this.#resting.end();
      return this.#positions.ageOf(replayed, caller, performance.now());
    } catch (error) {
      this.#resting.begin(error);
      return null;
    }
  };

  onFailure = (error: unknown): void => {
    // A statement may also be cancelled for the sake of what is replayed: the next one has a chance.
    if (error instanceof ServiceUnavailable) this.#resting.begin(error);
  };

  changed = async (caller: string): Promise<void> => {
    try {
      const [row] = await this.#primary.query<Positioned>(CHANGED, [caller]);
      this.#wrote(caller, row?.position);
    } catch {
      this.#positions.missed();
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listening[Symbol.asyncDispose]();
    await this.#sessions.close();
  }

  #hear: OnHint = (payload) => {
    if (payload === undefined) return this.#positions.missed();
    const [position, ...caller] = payload.split(' ');
    this.#wrote(caller.join(' '), position);
  };

  #wrote(caller: string, position: string | null | undefined): void {
    this.#positions.wrote(caller, { ms: performance.now(), position: BigInt(position ?? 0) });
  }

  readonly #sample = coalesced(async () => {
    const ms = performance.now();
    const row = await this.#primary.hints.ask<Positioned>(`select ${POSITION}`);
    this.#positions.sampled({ ms, position: BigInt(row?.position ?? 0) });
  });

  readonly #replayed = coalesced(async () => {
    const { rows }: pg.QueryResult<Positioned> = await this.#sessions.query(REPLAYED);
    const [row] = rows;
    if (!row?.position)
      throw new Error('DATABASE_REPLICA_URL leads to a server that is no standby.');
    return BigInt(row.position);
  });
}

interface Positioned {
  position: string | null;
}

function soon<T>(asked: Promise<T>): Promise<T> {
  return withDeadline(asked, POSITIONS_MAX_MS, (): never => {
    throw new Error(`No answer came within ${POSITIONS_MAX_MS} ms.`);
  });
}

/** Positions mean something within one server and its copies only. */
async function refuseOther(client: pg.ClientBase, query: RunQuery): Promise<void> {
  const [primary] = await query<{ identity: string }>(IDENTITY, []);
  const { rows } = await client.query<{ identity: string }>(IDENTITY);
  if (rows[0]?.identity !== primary?.identity) {
    throw new Error('DATABASE_REPLICA_URL leads to another database than DATABASE_URL.');
  }
}

class Resting {
  readonly #outage: Outage;
  #failures = 0;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(log: Log) {
    this.#outage = new Outage(log, 'replica.failed');
  }

  isOn(): boolean {
    return performance.now() < this.#untilMs;
  }

  /** Failures of one moment are one. */
  begin(error: unknown): void {
    if (this.isOn()) return;
    this.#failures += 1;
    this.#untilMs = performance.now() + backoffMs(REST, this.#failures);
    // The failure itself: what callers would be told of it is no line of the log.
    this.#outage.failed(error instanceof ServiceUnavailable ? error.cause : error);
  }

  end(): void {
    this.#failures = 0;
    this.#outage.ended();
  }
}
