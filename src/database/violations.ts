/** Which constraint the database enforced, read from the errors of Prisma and of the driver. */
import pg from 'pg';
import { Prisma } from './generated/client.ts';

/** The database has refused a statement, which then has changed nothing: the database was there, with time and room. */
export function isRefusedStatement(error: unknown): boolean {
  return error instanceof pg.DatabaseError;
}

/** Another row has the same unique values. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
}

const FOREIGN_KEY_VIOLATION = '23503';

/** The row is still pointed to, or points to nothing. */
export function isForeignKeyViolation(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === FOREIGN_KEY_VIOLATION;
  return (
    error instanceof Prisma.PrismaClientKnownRequestError &&
    (error.code === 'P2003' || error.code === 'P2014')
  );
}

/** The row to change is gone. */
export function isMissingRow(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2025';
}
