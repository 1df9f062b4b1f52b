/** Reads rows of all projects in batches, for changes that a new key or version requires. */

import type { RunStatement } from '../statements.ts';
import { mergeFirst, withoutProject } from './all-projects.ts';

const BATCH = 500;

interface SelectedRows {
  reason: string;
  table: string;
  /** SQL: the columns, in addition to the two ids. */
  columns: string;
  condition: string;
}

/** Yields the rows in the order of their ids. Rows may change in the meantime. */
export async function* readRowsOfAllProjects<T extends { id: string; projectId: string }>(
  run: RunStatement,
  { reason, table, columns, condition }: SelectedRows,
): AsyncGenerator<T> {
  const statement = withoutProject<T>(
    reason,
    `select "id", "projectId", ${columns} from "${table}"
     where ("projectId", "id") > ($1, $2) and ${condition}
     order by "projectId", "id" limit ${BATCH}`,
  );
  let lastRow: { id: string; projectId: string } | undefined = { projectId: '', id: '' };
  while (lastRow) {
    const rows: T[] = await run(statement, [lastRow.projectId, lastRow.id]);
    const batch = mergeFirst(rows, BATCH, (row) => [row.projectId, row.id]);
    yield* batch;
    lastRow = batch.at(-1);
  }
}
