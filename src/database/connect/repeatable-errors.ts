/** Recognizes errors after which work may be repeated, because the database has undone it. */
import pg from 'pg';
import { Prisma } from '../generated/client.ts';

/** The number of attempts for work that the database rolls back. */
export const TRIES_MAX = 4;
/** Serialization failures and deadlocks: Prisma's code, then their SQLSTATEs. */
const REPEATABLE_CODES = ['P2034', '40001', '40P01'];
/**
 * The SQLSTATE of a prepared statement that a migration has made obsolete. A cluster reports it without the details by
 * which a session recognizes such a statement.
 */
const OUTDATED_CODE = '0A000';
/**
 * The code of an error in a transaction for which the connection has renewed a prepared statement. It replaces the
 * SQLSTATE feature_not_supported, which has other causes too.
 */
export const RENEWED_CODE = 'RENEW';

/** True if the database has undone the work because of concurrent work, so that it may be repeated. */
export function isRepeatable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return REPEATABLE_CODES.includes(error.code ?? '');
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return false;
  const codes = [...REPEATABLE_CODES, OUTDATED_CODE];
  return [error.code, findSqlState(error)].some((code) => codes.includes(code ?? ''));
}

/** True if the work failed because of an outdated statement, which the session has renewed. */
export function isRenewed(error: unknown): boolean {
  return (
    error instanceof Prisma.PrismaClientKnownRequestError && findSqlState(error) === RENEWED_CODE
  );
}

/** The SQLSTATE of a statement that Prisma has sent. Undefined for Prisma's own errors. */
function findSqlState({ meta }: Prisma.PrismaClientKnownRequestError): string | undefined {
  const { driverAdapterError } = (meta ?? {}) as {
    driverAdapterError?: { cause?: { originalCode?: string } };
  };
  return driverAdapterError?.cause?.originalCode;
}
