/**
 * New names for prepared statements that are outdated: a migration has changed the columns of their `select *`. pg
 * considers a name prepared for as long as the connection exists, so the statement needs another name.
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';

export class ReplacedNames {
  /** The current names, by the original names. */
  readonly #newNames = new Map<string, string>();

  /** Returns the statement under its current name. */
  apply(statement: unknown): unknown {
    if (this.#newNames.size === 0) return statement;
    const newName = this.#newNames.get((statement as pg.QueryConfig).name ?? '');
    return newName === undefined ? statement : { ...(statement as pg.QueryConfig), name: newName };
  }

  /** Replaces an outdated name. Returns false if another use of the statement has replaced it already. */
  replace(originalName: string, outdatedName: string): boolean {
    if ((this.#newNames.get(originalName) ?? originalName) !== outdatedName) return false;
    this.#newNames.set(originalName, randomUUID());
    return true;
  }
}

/**
 * True if a migration has changed the columns since the statement was prepared. The statement was not executed. Checks
 * the routine, because other errors have the same code, and the message is localized.
 */
export function isOutdated(error: unknown): boolean {
  return (error as pg.DatabaseError).routine === 'RevalidateCachedQuery';
}
