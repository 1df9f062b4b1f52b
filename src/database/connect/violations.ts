/** Recognizes constraint violations in errors of Prisma and of the driver. */
import pg from 'pg';
import { Prisma } from '../generated/client.ts';

/**
 * True if the database returned an error for the statement and changed nothing. Most of these errors concern the
 * statement, but a shutdown (57P01) and too many connections (53300) are among them too.
 */
export function isRefusedStatement(error: unknown): boolean {
  return error instanceof pg.DatabaseError;
}

/** True if another row has the same unique values. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
}

const FOREIGN_KEY_VIOLATION = '23503';

/** True if other rows reference the row, or the row references a missing one. */
export function isForeignKeyViolation(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === FOREIGN_KEY_VIOLATION;
  return (
    error instanceof Prisma.PrismaClientKnownRequestError &&
    (error.code === 'P2003' || error.code === 'P2014')
  );
}

/** True if the row to change does not exist. */
export function isMissingRow(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2025';
}
