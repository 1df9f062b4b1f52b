import type { ObjectDeclarationInput } from '../declarative/declaration/declaration.ts';

/** A list that a vendor's GraphQL gives in pages as Relay has them. Its text is said by `fields`, which is left to add. */
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
