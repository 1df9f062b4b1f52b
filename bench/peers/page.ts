/** Cursors and Relay pages of the peers. */

export const encodeCursor = (id: string): string => Buffer.from(id).toString('base64url');
export const decodeCursor = (cursor: string): string =>
  Buffer.from(cursor, 'base64url').toString('utf8');

/** A Relay page, from one row more than its size. */
export function createPage<T extends { id: string }>(rows: T[], size: number) {
  const nodes = rows.slice(0, size);
  const end = nodes.at(-1);
  const pageInfo = {
    hasNextPage: rows.length > size,
    endCursor: end ? encodeCursor(end.id) : null,
  };
  return { edges: nodes.map((node) => ({ node })), pageInfo };
}
