/** Changes that the database refuses if another row has the same unique values. */
import { isUniqueViolation } from '../database/violations.ts';
import { conflict } from '../errors.ts';

/** What the change gives. Throws CONFLICT with this detail if its values are taken. */
export async function uniquely<T>(change: Promise<T>, detail: string): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (isUniqueViolation(error)) throw conflict(detail);
    throw error;
  }
}
