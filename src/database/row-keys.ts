/** Rows of projects by their keys. */

export interface RowKey {
  projectId: string;
  id: string;
}

/** The keys as two columns, for `unnest` or `any`; each row once. */
export function keyColumns(rows: readonly RowKey[]): [projectIds: string[], ids: string[]] {
  const each = [...new Map(rows.map((row) => [row.id, row])).values()];
  return [each.map(({ projectId }) => projectId), each.map(({ id }) => id)];
}
