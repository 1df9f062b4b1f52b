/** Xero: the Accounting API of one organization. */
import { MINUTE_MS } from '../../../work/durations.ts';
import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

interface ObjectOptions {
  /** The member of a record that holds its id, such as `ContactID`. */
  idMember: string;
  isPaged?: boolean;
  canDelete?: boolean;
  query?: Record<string, string>;
}

/** Declares an object. Requests and responses contain its records as a list under its name. */
function declareObject(
  displayName: string,
  name: string,
  { idMember, isPaged = true, canDelete = false, query = {} }: ObjectOptions,
): ObjectDeclarationInput {
  const path = `/api.xro/2.0/${name}`;
  return {
    displayName,
    aliases: [name.toLowerCase()],
    id: `/${idMember}`,
    changedAt: { at: '/UpdatedDateUTC', format: 'dotNet' },
    list: {
      path,
      query: { order: 'UpdatedDateUTC ASC', ...query },
      records: `/${name}`,
      ...(isPaged && { pageSize: { in: 'query', name: 'pageSize', max: 1000 } }),
      paging: isPaged
        ? {
            kind: 'page',
            parameter: { in: 'query', name: 'page' },
            pageCount: '/pagination/pageCount',
          }
        : { kind: 'none' },
      since: { in: 'header', name: 'If-Modified-Since', format: 'isoSeconds' },
      isKeysetPaged: isPaged,
      ...(isPaged && { total: '/pagination/itemCount' }),
    },
    byIds: { path: `${path}/{id}`, records: `/${name}/0` },
    create: { method: 'PUT', path, bodyRecord: `/${name}/0`, responseRecord: `/${name}/0` },
    update: {
      method: 'POST',
      path: `${path}/{id}`,
      bodyRecord: `/${name}/0`,
      responseRecord: `/${name}/0`,
    },
    ...(canDelete && { remove: { path: `${path}/{id}` } }),
  };
}

export const xero: DeclaredProvider = {
  name: 'xero',
  displayName: 'Xero',
  baseUrl: 'https://api.xero.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://login.xero.com/identity/connect/authorize',
    tokenUrl: 'https://identity.xero.com/connect/token',
    revocation: { method: 'POST', url: 'https://identity.xero.com/connect/revocation' },
    authorizeParams: { response_type: 'code' },
    explicitScopesRequired: true,
    refreshTokenScopes: ['offline_access'],
    clientAuthentication: 'basic',
    tokenFields: { scopes: 'scope' },
  },
  healthCheck: '/connections',
  proxy: false,
  // The vendor permits 60 requests per minute and 5 concurrent ones for each tenant.
  limits: { requestsPerSecond: 1, concurrency: 5 },
  api: {
    apiVersion: '2.0',
    docsUrl: 'https://developer.xero.com/documentation/api/accounting/overview',
    checkedAgainst:
      "the vendor's published OpenAPI description of the Accounting API, and its guides on requests and limits",
    notes: [
      'Some changes do not move `UpdatedDateUTC`, so incremental reads miss them: balances of contacts, `IsCustomer`, `IsSupplier`, and `DueDate` and `SentToContact` of partially paid invoices.',
      "Contacts and invoices can't be deleted. To archive or void them, update their status.",
    ],
    scopes: [
      'offline_access',
      'accounting.transactions',
      'accounting.contacts',
      'accounting.settings',
    ],
    inputs: {
      tenantId: {
        displayName: 'Id of the organization, from https://api.xero.com/connections',
        isOptional: true,
      },
    },
    headers: { 'xero-tenant-id': '{{tenantId}}' },
    // Xero forgets a key after 6 minutes.
    idempotency: { header: 'Idempotency-Key', keyLifetimeMs: 5 * MINUTE_MS },
    errors: {
      messages: ['/Elements/0/ValidationErrors', '/Message', '/Detail'],
      // Xero responds with 401 if the token lacks a scope.
      rules: [{ status: 401, contains: 'AuthorizationUnsuccessful', kind: 'FORBIDDEN' }],
    },
    events: {
      authentication: {
        kind: 'hmac',
        header: 'x-xero-signature',
        algorithm: 'sha256',
        encoding: 'base64',
      },
      account: { source: 'event', at: '/tenantId', metadataName: 'tenantId' },
      bodyEvents: '/events',
      typeParts: ['/eventCategory', '/eventType'],
      types: {
        'CONTACT.CREATE': { object: 'Contacts', kind: 'CREATE' },
        'CONTACT.UPDATE': { object: 'Contacts', kind: 'UPDATE' },
        'INVOICE.CREATE': { object: 'Invoices', kind: 'CREATE' },
        'INVOICE.UPDATE': { object: 'Invoices', kind: 'UPDATE' },
      },
      eventIdParts: ['/resourceId', '/eventDateUtc'],
      recordId: { parts: ['/resourceId'] },
      time: { at: '/eventDateUtc', format: 'iso' },
      acceptedStatus: 200,
      requiresEmptyResponses: true,
      instructions: [
        "In Xero's developer portal, open the app's Webhooks, choose contacts and invoices, and enter {url} as the delivery URL.",
        'Set the webhooks key as `webhookSecret` of the provider app.',
        'Save, and send the intent to receive. The gateway returns 401 to its incorrectly signed requests, as Xero requires.',
      ],
    },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: {
        precision: 'format',
        zone: 'utc',
        bounds: 'exclusive',
        column: 'changedAt',
      },
      visibility: 'notDocumented',
      expiredCursor: { never: 'Pages are numbered.' },
      depthLimit: 'none',
      fieldsMax: 'none',
      urlBytesMax: 'notDocumented',
      // Lists with pages, and lists of all items, contain whole records.
      nestedLists: 'complete',
      rateLimits: 'status429',
    },
    objects: {
      Contacts: declareObject('Contacts', 'Contacts', {
        idMember: 'ContactID',
        query: { includeArchived: 'true' },
      }),
      Invoices: declareObject('Invoices', 'Invoices', { idMember: 'InvoiceID' }),
      Items: declareObject('Items', 'Items', {
        idMember: 'ItemID',
        isPaged: false,
        canDelete: true,
      }),
      Accounts: declareObject('Accounts', 'Accounts', {
        idMember: 'AccountID',
        isPaged: false,
        canDelete: true,
      }),
    },
  },
};
