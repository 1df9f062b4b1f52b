/** Xero: the Accounting API of one organization. */
import { MINUTE_MS } from '../../../work/durations.ts';
import type {
  ListInput,
  ObjectDeclarationInput,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

interface ObjectOptions {
  /** The member of a record that holds its id, such as `ContactID`. */
  idMember: string;
  /** `sized` if pages have a parameter for their size and a total, `fixed` if they have neither. Default: `sized`. */
  pages?: 'sized' | 'fixed' | 'none';
  /** False if records have no time of change, and the list has no filter by it. */
  hasChangeTimes?: boolean;
  canUpdate?: boolean;
  canDelete?: boolean;
  query?: Record<string, string>;
}

/** Declares an object. Requests and responses contain its records as a list under its name. */
function declareObject(
  displayName: string,
  name: string,
  {
    idMember,
    pages = 'sized',
    hasChangeTimes = true,
    canUpdate = true,
    canDelete = false,
    query = {},
  }: ObjectOptions,
): ObjectDeclarationInput {
  const path = `/api.xro/2.0/${name}`;
  const record = { bodyRecord: `/${name}/0`, responseRecord: `/${name}/0` };
  return {
    displayName,
    aliases: listAliases(name),
    id: `/${idMember}`,
    ...(hasChangeTimes && { changedAt: { at: '/UpdatedDateUTC', format: 'dotNet' } }),
    list: {
      path,
      query: { ...(hasChangeTimes && { order: 'UpdatedDateUTC ASC' }), ...query },
      records: `/${name}`,
      ...declarePages(pages),
      ...(hasChangeTimes && {
        since: { in: 'header', name: 'If-Modified-Since', format: 'isoSeconds' },
      }),
    },
    byIds: { path: `${path}/{id}`, records: `/${name}/0` },
    create: { method: 'PUT', path, ...record },
    ...(canUpdate && { update: { method: 'POST', path: `${path}/{id}`, ...record } }),
    ...(canDelete && { remove: { path: `${path}/{id}` } }),
  };
}

/** Returns the names that manifests may use: in lower case, and beginning with a lower-case letter. */
function listAliases(name: string): string[] {
  return [...new Set([name.charAt(0).toLowerCase() + name.slice(1), name.toLowerCase()])];
}

type ListPages = Pick<ListInput, 'paging' | 'pageSize' | 'isKeysetPaged' | 'total' | 'behavior'>;

function declarePages(pages: ObjectOptions['pages']): ListPages {
  if (pages === 'none') return { paging: { kind: 'none' } };
  const paging = { kind: 'page', parameter: { in: 'query', name: 'page' } } as const;
  if (pages === 'fixed') return { paging, isKeysetPaged: true };
  return {
    paging: { ...paging, pageCount: '/pagination/pageCount' },
    pageSize: { in: 'query', name: 'pageSize', max: 1000 },
    isKeysetPaged: true,
    total: '/pagination/itemCount',
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
  // The vendor permits 60 requests per minute and 5 concurrent ones for each tenant.
  limits: { requestsPerSecond: 1, concurrency: 5 },
  api: {
    apiVersion: '2.0',
    docsUrl: 'https://developer.xero.com/documentation/api/accounting/overview',
    checkedAgainst:
      "the vendor's published OpenAPI description of the Accounting API, and its guides on requests and limits",
    notes: [
      'Some changes do not move `UpdatedDateUTC`, so incremental reads miss them: balances of contacts, `IsCustomer`, `IsSupplier`, and `DueDate` and `SentToContact` of partially paid invoices.',
      "Contacts, contact groups, invoices, purchase orders and quotes can't be deleted. To archive or void them, update their status.",
      'Contact groups and tax rates have no time of change, so each read fetches all of them. Tax rates are read and created, but not updated.',
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
        pages: 'none',
        canDelete: true,
      }),
      Accounts: declareObject('Accounts', 'Accounts', {
        idMember: 'AccountID',
        pages: 'none',
        canDelete: true,
      }),
      PurchaseOrders: declareObject('Purchase orders', 'PurchaseOrders', {
        idMember: 'PurchaseOrderID',
      }),
      Quotes: declareObject('Quotes', 'Quotes', { idMember: 'QuoteID', pages: 'fixed' }),
      ContactGroups: declareObject('Contact groups', 'ContactGroups', {
        idMember: 'ContactGroupID',
        pages: 'none',
        hasChangeTimes: false,
      }),
      TaxRates: declareObject('Tax rates', 'TaxRates', {
        idMember: 'TaxType',
        pages: 'none',
        hasChangeTimes: false,
        canUpdate: false,
      }),
    },
  },
};
