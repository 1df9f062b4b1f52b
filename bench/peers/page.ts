/** Cursors and Relay pages of the peers. */

export const encodeCursor = (id: string): string => Buffer.from(id).toString('base64url');
export const decodeCursor = (cursor: string): string =>
  Buffer.from(cursor, 'base64url').toString('utf8');

/** Returns a Relay page of the rows, which are one more than its size if another page follows. */
export function createPage<T extends { id: string }>(rows: T[], size: number) {
  const nodes = rows.slice(0, size);
  const lastNode = nodes.at(-1);
  const pageInfo = {
    hasNextPage: rows.length > size,
    endCursor: lastNode ? encodeCursor(lastNode.id) : null,
  };
  return { edges: nodes.map((node) => ({ node })), pageInfo };
}
