/** Locks rows before changes, and reports violations of unique indexes. */

import { isUniqueViolation } from '../../database/connect/violations.ts';
import type { RowKey } from '../../database/statements/row-keys.ts';
import { run, statements } from '../../database/statements/statements.ts';
import type { Tables } from '../../database/statements/tables.ts';
import type { Transaction } from '../../database/transactions/transaction.ts';
import { conflict, notFound } from '../../kernel/errors.ts';
import type { ProjectTable } from './scope.ts';

/**
 * Reads a row, and locks it until the transaction ends. A lock for a change is exclusive, and locks for a use are shared.
 * Throws NOT_FOUND.
 */
export async function lockRow<T extends ProjectTable>(
  tx: Transaction,
  table: T,
  { projectId, id, noun }: RowKey & { noun: string },
  purpose: 'change' | 'use' = 'change',
): Promise<Tables[T]> {
  // Kysely's types need one table. All tables of projects have these columns.
  const query = statements
    .selectFrom(table as 'Plan')
    .selectAll()
    .where('id', '=', id)
    .where('projectId', '=', projectId);
  const [row] = await run(tx, purpose === 'change' ? query.forUpdate() : query.forShare());
  if (!row) throw notFound(noun, id);
  return row as object as Tables[T];
}

/** Returns the result of the change. Throws CONFLICT with `detail` if another row has the same unique values. */
export async function requireUnique<T>(change: Promise<T>, detail: string): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (isUniqueViolation(error)) throw conflict(detail);
    throw error;
  }
}
