import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

/** Lists filter by creation alone and records do not say when they changed: a read of changes is a whole one. */
function object(
  displayName: string,
  name: string,
  { query, remove = false }: { query?: Record<string, string>; remove?: boolean } = {},
): ObjectDeclarationInput {
  const path = `/v1/${name}`;
  return {
    displayName,
    nested: [],
    all: {
      path,
      ...(query && { query }),
      records: '/data',
      size: { in: 'query', name: 'limit', max: 100 },
      paging: { kind: 'lastId', send: { in: 'query', name: 'starting_after' }, more: '/has_more' },
    },
    // One that was deleted is still told of.
    byIds: { path: `${path}/{id}`, records: '', gone: '/deleted' },
    create: { method: 'POST', path, record: '' },
    update: { method: 'POST', path: `${path}/{id}`, record: '' },
    ...(remove && { remove: { path: `${path}/{id}` } }),
  };
}

export const stripe: DeclaredProvider = {
  name: 'stripe',
  displayName: 'Stripe',
  baseUrl: 'https://api.stripe.com',
  authSchemes: ['API_KEY'],
  healthCheck: '/v1/balance',
  apiKey: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
  limits: { requestsPerSecond: 50 },
  records: {
    docsUrl: 'https://docs.stripe.com/api',
    checkedAgainst: "the vendor's published OpenAPI description",
    bodyFormat: 'form',
    idempotencyHeader: 'Idempotency-Key',
    errors: {
      messages: ['/error/message'],
      rules: [
        { status: 402, kind: 'BAD_REQUEST' },
        // Another request with the same key or on the same object is under way.
        { status: 409, kind: 'RETRYABLE' },
      ],
    },
    objects: {
      customers: object('Customers', 'customers', { remove: true }),
      products: object('Products', 'products', { remove: true }),
      prices: object('Prices', 'prices'),
      invoices: object('Invoices', 'invoices', { remove: true }),
      subscriptions: object('Subscriptions', 'subscriptions', {
        query: { status: 'all' },
        remove: true,
      }),
    },
  },
};
