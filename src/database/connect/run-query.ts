/** Runs the text of a statement as a prepared statement. */
import { hash } from 'node:crypto';
import type pg from 'pg';
import type { Pooler } from './sessions/database-session.ts';

export type RunQuery = <T>(text: string, values: unknown[], rowMode?: 'array') => Promise<T[]>;

/** Returns the name under which a statement is prepared. If undefined, it is prepared for each use. */
export type NameStatement = (text: string) => string | undefined;

/** Runs statements on a pool whose clients read columns by COLUMN_TYPES. */
export function createQuery(pool: pg.Pool, nameStatement: NameStatement): RunQuery {
  return async (text, values, rowMode) => {
    const config = { name: nameStatement(text), text, values, ...(rowMode && { rowMode }) };
    const { rows } = await pool.query(config);
    return rows;
  };
}

/**
 * Returns the names under which connections prepare texts, so that each connection prepares a text once. There are no
 * names behind a pooler that loses prepared statements.
 */
export function createStatementNamer(pooler?: Pooler): NameStatement {
  return pooler && !pooler.keepsStatements ? () => undefined : getStatementName;
}

const STATEMENT_NAMES = new Map<string, string>();
/** A safety bound: the gateway has a few hundred texts. */
const STATEMENTS_MAX = 2_000;

/** Derives one name from each text, so that every connection prepares it once. */
function getStatementName(text: string): string {
  const cachedName = STATEMENT_NAMES.get(text);
  if (cachedName !== undefined) return cachedName;
  const name = hash('sha1', text, 'base64url');
  if (STATEMENT_NAMES.size < STATEMENTS_MAX) STATEMENT_NAMES.set(text, name);
  return name;
}
