/** Runs any SQL text. Only tests run texts that the gateway does not declare as statements. */
import type { RunQuery } from '../../../src/database/connect/run-query.ts';
import type { Database } from '../../../src/database/open/database.ts';
import { sqlStatement } from '../../../src/database/statements/statements.ts';

/** Returns a function that runs texts on the database. */
export function toQuery(database: Pick<Database, 'run'>): RunQuery {
  return (text, values) => database.run(sqlStatement(text), values);
}

/** Runs a text, and returns its rows. */
export function queryRows<R>(
  database: Pick<Database, 'run'>,
  text: string,
  values: readonly unknown[],
): Promise<R[]> {
  return database.run(sqlStatement<R>(text), values);
}
