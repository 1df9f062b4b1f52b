import type { ObjectDeclarationInput } from '../declarative/declaration/declaration.ts';

/** A list of a vendor's GraphQL in Relay's pages. The vendor adds `fields`, which holds the text of the query. */
export function relayList(path: string, list: string) {
  return {
    method: 'POST',
    path,
    body: { variables: {} },
    records: `/data/${list}/nodes`,
    size: { in: 'body', name: '/variables/first', max: 250 },
    paging: {
      kind: 'cursor',
      send: { in: 'body', name: '/variables/after' },
      next: `/data/${list}/pageInfo/endCursor`,
      more: `/data/${list}/pageInfo/hasNextPage`,
    },
  } as const satisfies ObjectDeclarationInput['all'];
}
