import type { ListInput } from '../declarative/declaration/declaration.ts';

/** Declares a list in a vendor's GraphQL API with Relay pagination. The caller adds `fields` with the query. */
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
  } as const satisfies ListInput;
}
