import type { ListInput } from '../declarative/declaration/declaration.ts';

/** Declares a list in a vendor's GraphQL API with Relay pagination. The caller adds `fields` with the query. */
export function declareRelayList(path: string, list: string) {
  return {
    method: 'POST',
    path,
    body: { variables: {} },
    records: `/data/${list}/nodes`,
    pageSize: { in: 'body', name: '/variables/first', max: 250 },
    paging: {
      kind: 'cursor',
      parameter: { in: 'body', name: '/variables/after' },
      next: `/data/${list}/pageInfo/endCursor`,
      hasMore: `/data/${list}/pageInfo/hasNextPage`,
    },
  } as const satisfies ListInput;
}
