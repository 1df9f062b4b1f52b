/** Which constraint the database enforced, read from Prisma's errors. */
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

/** The row is still pointed to, or points to nothing. */
export function isForeignKeyViolation(error: unknown): boolean {
  return (
    error instanceof Prisma.PrismaClientKnownRequestError &&
    (error.code === 'P2003' || error.code === 'P2014')
  );
}

/** The row to change is gone. */
export function isMissingRow(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2025';
}
