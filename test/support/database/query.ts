/** Runs any SQL text. Only tests run texts that the gateway does not declare as statements. */
import type { RunQuery } from '../../../src/database/connect/run-query.ts';
import type { Database } from '../../../src/database/open/database.ts';
import { Statement, sqlStatement } from '../../../src/database/statements/statements.ts';

/** Returns a function that runs texts on the database. */
export function toQuery(database: Pick<Database, 'run'>): RunQuery {
  return <R>(text: string, values: unknown[], rowMode?: 'array') => {
    const statement = new Statement<unknown[], R>(text, (list) => list, rowMode && { rowMode });
    return database.run(statement, values);
  };
}

/** Runs a text, and returns its rows. */
export function queryRows<R>(
  database: Pick<Database, 'run'>,
  text: string,
  values: readonly unknown[],
): Promise<R[]> {
  return database.run(sqlStatement<R>(text), values);
}
