/** Stripe: a REST API with form-encoded bodies. */
import { HOUR_MS } from '../../../work/durations.ts';
import { type Behavior, IMMEDIATE } from '../../behavior.ts';
import type {
  ListInput,
  ObjectDeclarationInput,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

function declareList(path: string, query?: Record<string, string>): ListInput {
  return {
    path,
    ...(query && { query }),
    records: '/data',
    pageSize: { in: 'query', name: 'limit', max: 100 },
    paging: {
      kind: 'lastId',
      parameter: { in: 'query', name: 'starting_after' },
      hasMore: '/has_more',
    },
  };
}

/** The number of items of a list inside a record. */
const NESTED_ITEMS_MAX = 10;

/** Declares an object. Its list can't filter by time of change, so an incremental read fetches all records. */
function declareObject(
  displayName: string,
  name: string,
  {
    query,
    nestedLists = {},
    canCreate = true,
    canUpdate = true,
    canDelete = false,
  }: {
    query?: Record<string, string>;
    /** The endpoint of each list inside a record, by the field that holds the list. */
    nestedLists?: Record<string, ListInput>;
    canCreate?: boolean;
    canUpdate?: boolean;
    canDelete?: boolean;
  } = {},
): ObjectDeclarationInput {
  const path = `/v1/${name}`;
  return {
    displayName,
    nestedLists: Object.entries(nestedLists).map(([field, nestedList]) => ({
      field,
      at: `/${field}/data`,
      hasMore: `/${field}/has_more`,
      list: nestedList,
    })),
    list: { ...declareList(path, query), behavior: { nestedLists: describe(nestedLists) } },
    // A deleted record is still returned, with `deleted`.
    byIds: { path: `${path}/{id}`, records: '', deletionFlag: '/deleted' },
    ...(canCreate && { create: { method: 'POST', path, responseRecord: '' } }),
    ...(canUpdate && { update: { method: 'POST', path: `${path}/{id}`, responseRecord: '' } }),
    ...(canDelete && { remove: { path: `${path}/{id}` } }),
  };
}

function describe(nestedLists: Record<string, ListInput>): Behavior['nestedLists'] {
  const lists = Object.keys(nestedLists).map((field) => ({
    at: `/${field}/data`,
    itemsMax: NESTED_ITEMS_MAX,
    otherItems: 'read' as const,
  }));
  return lists.length > 0 ? lists : 'complete';
}

export const stripe: DeclaredProvider = {
  name: 'stripe',
  displayName: 'Stripe',
  baseUrl: 'https://api.stripe.com',
  authSchemes: ['API_KEY'],
  credentialsDocsUrl: 'https://docs.stripe.com/keys',
  healthCheck: '/v1/balance',
  apiKey: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
  limits: { requestsPerSecond: 50 },
  api: {
    docsUrl: 'https://docs.stripe.com/api',
    checkedAgainst:
      "the vendor's published OpenAPI description, and its reference of paging, lists inside objects, and rate limits",
    bodyFormat: 'form',
    // Stripe may forget a key after 24 hours.
    idempotency: { header: 'Idempotency-Key', keyLifetimeMs: 23 * HOUR_MS },
    errors: {
      messages: ['/error/message'],
      rules: [
        { status: 402, kind: 'BAD_REQUEST' },
        // Another request with the same key or for the same object is running.
        { status: 409, kind: 'RETRYABLE' },
      ],
    },
    notes: [
      'Events come from an endpoint for connected accounts. `providerWorkspaceRef` of a connection must be its account (`acct_…`).',
    ],
    events: {
      authentication: {
        kind: 'hmac',
        header: 'Stripe-Signature',
        prefix: 'v1=',
        separator: ',',
        algorithm: 'sha256',
        encoding: 'hex',
        signedPayload: '{timestamp}.{body}',
        timestamp: {
          at: { header: 'Stripe-Signature' },
          prefix: 't=',
          unit: 'seconds',
          toleranceMs: 300_000,
        },
      },
      account: { source: 'event', at: '/account' },
      // Events of the platform's own account name no account. No connection has it.
      ignoreIfAbsent: '/account',
      typeParts: ['/type'],
      types: {
        'customer.created': { object: 'customers', kind: 'CREATE' },
        'customer.updated': { object: 'customers', kind: 'UPDATE' },
        'customer.deleted': { object: 'customers', kind: 'DELETE' },
        'product.created': { object: 'products', kind: 'CREATE' },
        'product.updated': { object: 'products', kind: 'UPDATE' },
        'product.deleted': { object: 'products', kind: 'DELETE' },
        'price.created': { object: 'prices', kind: 'CREATE' },
        'price.updated': { object: 'prices', kind: 'UPDATE' },
        'price.deleted': { object: 'prices', kind: 'DELETE' },
        'invoice.created': { object: 'invoices', kind: 'CREATE' },
        'invoice.updated': { object: 'invoices', kind: 'UPDATE' },
        'invoice.deleted': { object: 'invoices', kind: 'DELETE' },
        'customer.subscription.created': { object: 'subscriptions', kind: 'CREATE' },
        'customer.subscription.updated': { object: 'subscriptions', kind: 'UPDATE' },
        'customer.subscription.deleted': { object: 'subscriptions', kind: 'DELETE' },
      },
      eventIdParts: ['/id'],
      recordId: { parts: ['/data/object/id'] },
      time: { at: '/created', format: 'unixSeconds' },
      changedFields: '/data/previous_attributes',
      record: '/data/object',
      instructions: [
        'At Stripe, open Developers, Webhooks, and add {url} as an endpoint for events of connected accounts.',
        'Select the event types of customers, products, prices, invoices and subscriptions.',
        "Set the endpoint's signing secret (whsec_…) as `webhookSecret` of the provider app.",
      ],
    },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: 'none',
      visibility: IMMEDIATE,
      // The record after which the page starts was deleted.
      expiredCursor: [{ contains: 'starting_after' }],
      depthLimit: 'none',
      fieldsMax: 'none',
      urlBytesMax: 'none',
      nestedLists: 'complete',
      rateLimits: 'status429',
    },
    objects: {
      // Only accounts with an API version before 2020-08-27 get these lists.
      customers: declareObject('Customers', 'customers', {
        nestedLists: {
          sources: declareList('/v1/customers/{id}/sources'),
          subscriptions: declareList('/v1/subscriptions', { customer: '{id}' }),
          tax_ids: declareList('/v1/customers/{id}/tax_ids'),
        },
        canDelete: true,
      }),
      products: declareObject('Products', 'products', { canDelete: true }),
      prices: declareObject('Prices', 'prices'),
      invoices: declareObject('Invoices', 'invoices', {
        nestedLists: { lines: declareList('/v1/invoices/{id}/lines') },
        canDelete: true,
      }),
      subscriptions: declareObject('Subscriptions', 'subscriptions', {
        query: { status: 'all' },
        nestedLists: { items: declareList('/v1/subscription_items', { subscription: '{id}' }) },
        canDelete: true,
      }),
      // Only accounts with an API version before 2022-11-15 get `refunds` of a charge and `charges` of a payment intent.
      charges: declareObject('Charges', 'charges', {
        nestedLists: { refunds: declareList('/v1/charges/{id}/refunds') },
      }),
      payment_intents: declareObject('Payment intents', 'payment_intents', {
        nestedLists: { charges: declareList('/v1/charges', { payment_intent: '{id}' }) },
      }),
      refunds: declareObject('Refunds', 'refunds'),
      disputes: declareObject('Disputes', 'disputes', { canCreate: false }),
      payouts: declareObject('Payouts', 'payouts'),
      balance_transactions: declareObject('Balance transactions', 'balance_transactions', {
        canCreate: false,
        canUpdate: false,
      }),
      coupons: declareObject('Coupons', 'coupons', { canDelete: true }),
      promotion_codes: declareObject('Promotion codes', 'promotion_codes'),
      invoiceitems: declareObject('Invoice items', 'invoiceitems', { canDelete: true }),
      credit_notes: declareObject('Credit notes', 'credit_notes', {
        nestedLists: { lines: declareList('/v1/credit_notes/{id}/lines') },
      }),
      quotes: declareObject('Quotes', 'quotes'),
      subscription_schedules: declareObject('Subscription schedules', 'subscription_schedules'),
      'climate/suppliers': declareObject('Climate suppliers', 'climate/suppliers', {
        canCreate: false,
        canUpdate: false,
      }),
    },
  },
};
