import { isUniqueViolation } from '../database/violations.ts';
import { conflict } from '../errors.ts';

/** Returns the result of the change. Throws CONFLICT with `detail` if another row has the same unique values. */
export async function requireUnique<T>(change: Promise<T>, detail: string): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (isUniqueViolation(error)) throw conflict(detail);
    throw error;
  }
}
