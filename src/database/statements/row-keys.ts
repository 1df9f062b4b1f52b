/** The keys of rows that belong to projects. */

export interface RowKey {
  projectId: string;
  id: string;
}

/** Returns the keys as two columns for `unnest` or `any`, without duplicates. */
export function toKeyColumns(rows: readonly RowKey[]): [projectIds: string[], ids: string[]] {
  const distinctRows = [...new Map(rows.map((row) => [row.id, row])).values()];
  return [distinctRows.map(({ projectId }) => projectId), distinctRows.map(({ id }) => id)];
}
