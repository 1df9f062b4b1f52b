/** The same reads by another pool: of a standby as long as it is fit for them, else of the primary. */
import type { Rows } from '../rows.ts';

export interface AgedRows {
  primary: Rows;
  standby: Rows;
  /** Whether the standby is fit for the next read. */
  isFit(): Promise<boolean>;
  /** Told of a read of the standby that has failed; the primary is asked next. */
  onFailure(error: unknown): void;
}

export function agedRows({ primary, standby, isFit, onFailure }: AgedRows): Rows {
  const read = async <T>(from: (rows: Rows) => Promise<T>): Promise<T> => {
    if (await isFit()) {
      try {
        return await from(standby);
      } catch (error) {
        onFailure(error);
      }
    }
    return from(primary);
  };
  return {
    page: (table, where, range) => read((rows) => rows.page(table, where, range)),
    pages: (lists) => read((rows) => rows.pages(lists)),
    find: (table, where) => read((rows) => rows.find(table, where)),
    findProject: (where) => read((rows) => rows.findProject(where)),
    count: (table, where) => read((rows) => rows.count(table, where)),
    counts: (lists) => read((rows) => rows.counts(lists)),
    arrays: (statement, input) => read((rows) => rows.arrays(statement, input)),
    run: (statement, input) => read((rows) => rows.run(statement, input)),
    query: (text, values, rowMode) => read((rows) => rows.query(text, values, rowMode)),
  };
}
