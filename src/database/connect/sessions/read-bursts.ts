/**
 * Collects the reads of one turn of the event loop and sends them together, in one write on one connection. Only for
 * short reads, because the server executes the reads of a burst one after the other.
 */
import type pg from 'pg';
import { bindSpan, runOutsideTraces } from '../../../kernel/spans.ts';
import type { NameStatement, RunQuery } from '../run-query.ts';

/**
 * The maximum number of reads in a burst. Further reads use another connection, and so another core of the server.
 * Bursts of 16 were slower: with fewer connections, the server gets a smaller share of a CPU that it shares with the
 * gateway.
 */
const BURST_MAX = 8;

interface PendingRead {
  /** Identifies the servers that hold the rows. */
  serverKey: string;
  send(client: pg.PoolClient): Promise<pg.QueryResult>;
  resolve(rows: never[]): void;
  reject(error: unknown): void;
}

/** Routes reads of a database whose rows are spread over several servers. */
export interface ServerRouting {
  /** Returns a key for the servers that hold the rows of the projects in the values. */
  getServerKey(values: readonly unknown[]): string;
  /** Returns why a statement cannot be sent now. Null if it can. */
  findRefusal(text: string, values: readonly unknown[]): Error | null;
}

interface ReadBursts {
  query: RunQuery;
  /** Executes equal reads of one turn once. Callers share the rows and must not change them. */
  queryShared: RunQuery;
}

/** The pool's clients must be created with `pipeline`. Reads from one server do not wait for reads from another. */
export function createReadBursts(
  pool: pg.Pool,
  nameStatement: NameStatement,
  servers?: ServerRouting,
): ReadBursts {
  let pendingReads: PendingRead[] = [];
  let sharedReads = new Map<string, Promise<never[]>>();
  const sendAll = () => {
    const burst = pendingReads;
    pendingReads = [];
    // Replaced, because a cleared Map would keep the promises of this turn in memory for longer
    // (docs/decisions/048-request-object-lifetime.md).
    sharedReads = new Map();
    for (const serverReads of Map.groupBy(burst, ({ serverKey }) => serverKey).values()) {
      for (let start = 0; start < serverReads.length; start += BURST_MAX) {
        void sendBurst(pool, serverReads.slice(start, start + BURST_MAX));
      }
    }
  };
  const query: RunQuery = (text, values, rowMode) =>
    new Promise((resolve, reject) => {
      // Outside the trace of the first read, because the other reads of the burst belong to other traces.
      if (pendingReads.length === 0) runOutsideTraces(() => setImmediate(sendAll));
      const refusal = servers?.findRefusal(text, values);
      if (refusal) return reject(refusal);
      const config = { name: nameStatement(text), text, values, ...(rowMode && { rowMode }) };
      const send = bindSpan((client: pg.PoolClient) => client.query(config));
      pendingReads.push({
        serverKey: servers?.getServerKey(values) ?? '',
        send,
        resolve: resolve as PendingRead['resolve'],
        reject,
      });
    });
  const queryShared: RunQuery = (...read) => {
    const key = JSON.stringify(read);
    const reading = sharedReads.get(key) ?? query<never>(...read);
    sharedReads.set(key, reading);
    return reading;
  };
  return { query, queryShared };
}

async function sendBurst(pool: pg.Pool, reads: PendingRead[]): Promise<void> {
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    for (const { reject } of reads) reject(error);
    return;
  }
  const { stream } = client.connection;
  stream.cork();
  const responses = reads.map(async ({ send, resolve, reject }) => {
    try {
      const { rows } = await send(client);
      resolve(rows as never[]);
      return true;
    } catch (error) {
      reject(error);
      return false;
    }
  });
  stream.uncork();
  const allSucceeded = (await Promise.all(responses)).every(Boolean);
  client.release(!allSucceeded);
}
