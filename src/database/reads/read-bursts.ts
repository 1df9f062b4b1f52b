/**
 * Sends reads that arrive together in one write on one connection. Only for short reads, because the server executes a
 * burst one after the other.
 */
import type pg from 'pg';
import { keepingSpan, outsideTraces } from '../../spans.ts';
import type { RunQuery } from '../rows.ts';

/**
 * The most reads of a burst. Further reads use another connection, and so another core of the server. A burst of 16 is
 * slower; with fewer connections the server gets too little CPU where others compete for it.
 */
const BURST_MAX = 8;

interface Read {
  servers: string;
  send(client: pg.PoolClient): Promise<pg.QueryResult>;
  resolve(rows: never[]): void;
  reject(error: unknown): void;
}

/** Routes reads of a database whose rows are spread over several servers. */
export interface Servers {
  /** Returns a key of the servers that hold the rows of the projects in the values. */
  of(values: readonly unknown[]): string;
  /** Returns why a statement cannot be sent now. Null if it can. */
  refusal(text: string, values: readonly unknown[]): Error | null;
}

/** Returns the name to prepare a statement under. Undefined prepares it for each use. */
export type NameStatement = (text: string) => string | undefined;

export interface ReadsInBursts {
  each: RunQuery;
  /** Executes equal reads of one burst once. Callers share the rows and must not change them. */
  shared: RunQuery;
}

/**
 * The pool's clients must be created with `pipeline`. With several servers, reads of one server do not wait for
 * another.
 */
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
    // Replaced instead of cleared: the tables of one Map reference each other
    // (docs/decisions/048-request-object-lifetime.md).
    alike = new Map();
    for (const some of Map.groupBy(reads, ({ servers }) => servers).values()) {
      for (let at = 0; at < some.length; at += BURST_MAX) {
        void send(pool, some.slice(at, at + BURST_MAX));
      }
    }
  };
  const each: RunQuery = (text, values, rowMode) =>
    new Promise((resolve, reject) => {
      // Runs outside the trace of the first read, because the others are not part of it.
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
