/**
 * Reads that come together go to the server together: one connection, one write. For short reads only,
 * since those of one burst are answered one after the other.
 */
import type pg from 'pg';
import { keepingSpan, outsideTraces } from '../../spans.ts';
import type { RunQuery } from '../rows.ts';

/**
 * The most reads of one burst; more take another connection, and so another core of the server. Twice as many are slower, and
 * where others compete for the cores, few connections get few turns on them.
 */
const BURST_MAX = 8;

interface Read {
  servers: string;
  send(client: pg.PoolClient): Promise<pg.QueryResult>;
  resolve(rows: never[]): void;
  reject(error: unknown): void;
}

/** Of a database whose rows are on several servers. */
export interface Servers {
  /** Names those that have the rows of the projects among the values. */
  of(values: readonly unknown[]): string;
  /** Why a statement can't be sent now; null if it can. */
  refusal(text: string, values: readonly unknown[]): Error | null;
}

/** Undefined: it is prepared for each use. */
export type NameStatement = (text: string) => string | undefined;

export interface ReadsInBursts {
  each: RunQuery;
  /** Equal reads of one burst are read once. The rows are shared: nobody may change them. */
  shared: RunQuery;
}

/** The pool's clients must be made with `pipeline`. With several servers no read waits for the server of another. */
export function readsInBursts(
  pool: pg.Pool,
  nameOf: NameStatement,
  servers?: Servers,
): ReadsInBursts {
  let waiting: Read[] = [];
  let alike = new Map<string, Promise<never[]>>();
  const sendAll = () => {
    const reads = waiting;
    waiting = [];
    // Not emptied: the tables of one Map lead to each other (docs/decisions/048-what-requests-read-dies-young.md).
    alike = new Map();
    for (const some of Map.groupBy(reads, ({ servers }) => servers).values()) {
      for (let at = 0; at < some.length; at += BURST_MAX) {
        void send(pool, some.slice(at, at + BURST_MAX));
      }
    }
  };
  const each: RunQuery = (text, values, rowMode) =>
    new Promise((resolve, reject) => {
      // The first of a burst may be traced: the others are no parts of it.
      if (waiting.length === 0) outsideTraces(() => setImmediate(sendAll));
      const refusal = servers?.refusal(text, values);
      if (refusal) return reject(refusal);
      const config = { name: nameOf(text), text, values, ...(rowMode && { rowMode }) };
      const send = keepingSpan((client: pg.PoolClient) => client.query(config));
      const of = servers?.of(values) ?? '';
      waiting.push({ servers: of, send, resolve: resolve as Read['resolve'], reject });
    });
  const shared: RunQuery = (...read) => {
    const key = JSON.stringify(read);
    const reading = alike.get(key) ?? each<never>(...read);
    alike.set(key, reading);
    return reading;
  };
  return { each, shared };
}

async function send(pool: pg.Pool, reads: Read[]): Promise<void> {
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
  const isSound = (await Promise.all(responses)).every(Boolean);
  client.release(!isSound);
}
