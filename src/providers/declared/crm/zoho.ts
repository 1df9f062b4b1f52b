/** Zoho CRM: a REST API for standard and custom modules. */
import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';
import { DESK_HOSTS, zohoDesk } from './zoho-desk.ts';

const PATH = '/crm/v8/{object}';
const OUTCOME = '/data/0';
const SUCCESS = { at: '/data/0/status', value: 'success' };

/** The hosts of the accounts servers in https://www.zoho.com/accounts/protocol/oauth/multi-dc.html, plus the one in China. */
const ACCOUNTS_HOSTS = [
  'accounts.zoho.com',
  'accounts.zoho.eu',
  'accounts.zoho.in',
  'accounts.zoho.com.au',
  'accounts.zoho.jp',
  'accounts.zohocloud.ca',
  'accounts.zoho.sa',
  'accounts.zoho.com.cn',
  'accounts.zoho.uk',
];
/** Hosts of the API. Sandboxes use subdomains other than `www`. */
const API_HOSTS = [
  '*.zohoapis.com',
  '*.zohoapis.eu',
  '*.zohoapis.in',
  '*.zohoapis.com.au',
  '*.zohoapis.jp',
  '*.zohoapis.ca',
  '*.zohoapis.sa',
  '*.zohoapis.com.cn',
  '*.zohoapis.uk',
];

/** Declares the records of a standard or custom module. A write returns an outcome for each record. */
function declareRecords(displayName: string, aliases: string[] = []): ObjectDeclarationInput {
  const batch = {
    path: PATH,
    bodyRecords: '/data',
    outcomes: '/data',
    success: { at: '/status', value: 'success' },
    recordId: '/details/id',
    errors: ['/message'],
  };
  const selectedFields = {
    in: 'query' as const,
    name: 'fields',
    always: ['Modified_Time'],
    returnsEmptyFields: true,
  };
  return {
    displayName,
    aliases,
    changedAt: { at: '/Modified_Time', format: 'isoOffset' },
    list: {
      path: PATH,
      query: { sort_by: 'Modified_Time', sort_order: 'asc' },
      records: '/data',
      pageSize: { in: 'query', name: 'per_page', max: 200 },
      paging: {
        kind: 'cursor',
        parameter: { in: 'query', name: 'page_token' },
        next: '/info/next_page_token',
        hasMore: '/info/more_records',
      },
      since: { in: 'header', name: 'If-Modified-Since', format: 'isoOffset' },
      isKeysetPaged: true,
      selectedFields,
    },
    byIds: {
      path: PATH,
      ids: { in: 'query', name: 'ids', max: 100 },
      records: '/data',
      selectedFields,
    },
    count: { path: `${PATH}/actions/count`, at: '/count' },
    create: {
      method: 'POST',
      path: PATH,
      bodyRecord: '/data/0',
      responseRecord: OUTCOME,
      responseRecordId: '/details/id',
      success: SUCCESS,
    },
    update: {
      method: 'PUT',
      path: `${PATH}/{id}`,
      bodyRecord: '/data/0',
      responseRecord: OUTCOME,
      success: SUCCESS,
    },
    remove: { path: `${PATH}/{id}`, success: SUCCESS },
    createMany: { method: 'POST', ...batch },
    updateMany: { method: 'PUT', ...batch },
    fieldList: {
      path: '/crm/v8/settings/fields',
      query: { module: '{object}' },
      fields: '/fields',
      name: '/api_name',
      displayName: '/field_label',
      type: '/data_type',
      isRequired: '/system_mandatory',
      isCustom: '/custom_field',
      isReadOnly: '/read_only',
      options: { at: '/pick_list_values', value: '/actual_value', displayValue: '/display_value' },
      types: {
        text: 'STRING',
        textarea: 'STRING',
        email: 'STRING',
        phone: 'STRING',
        website: 'STRING',
        integer: 'INT',
        double: 'FLOAT',
        currency: 'FLOAT',
        percent: 'FLOAT',
        boolean: 'BOOLEAN',
        date: 'DATE',
        datetime: 'DATETIME',
        picklist: 'SINGLE_SELECT',
        multiselectpicklist: 'MULTI_SELECT',
        lookup: 'REFERENCE',
        ownerlookup: 'REFERENCE',
      },
    },
  };
}

export const zoho: DeclaredProvider = {
  name: 'zoho',
  displayName: 'Zoho',
  // Zoho's token response contains the base URL of the customer's data center, which is stored as the workspace.
  baseUrl: '{{workspace}}',
  modules: [
    { name: 'crm', aliases: ['root'], displayName: 'Zoho CRM', baseUrl: '{{workspace}}' },
    zohoDesk,
  ],
  hosts: {
    workspace: API_HOSTS,
    zoho_token_domain: ACCOUNTS_HOSTS,
    zoho_desk_domain: DESK_HOSTS,
  },
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://accounts.zoho.com/oauth/v2/auth',
    tokenUrl: 'https://{{zoho_token_domain}}/oauth/v2/token',
    authorizeParams: { access_type: 'offline' },
    // Zoho, OAuth guide: only a repeated prompt gives another refresh token. The first consent omits it, because the 21st
    // refresh token of a person deletes the oldest, which another connection may use.
    reauthorizeParams: { prompt: 'consent' },
    // Zoho: `Access Denied`, which is localized, means too many requests for tokens. Its status is `failure`.
    tokenErrors: [
      { code: 'invalid_code', kind: 'AUTH_INVALIDATED' },
      { code: 'invalid_client_secret', kind: 'AUTH_INVALIDATED' },
      { code: 'access denied', kind: 'RATE_LIMITED' },
      { code: 'failure', kind: 'RATE_LIMITED' },
    ],
    explicitScopesRequired: true,
    scopeSeparator: ',',
    tokenFields: { workspaceRef: 'api_domain', scopes: 'scope' },
  },
  healthCheck: '/crm/v8/settings/modules',
  limits: { batchSize: 100 },
  api: {
    apiVersion: 'v8',
    docsUrl: 'https://www.zoho.com/crm/developer/docs/api/v8/',
    checkedAgainst:
      "the vendor's published OpenAPI description of CRM v8, and its reference on records, subforms and limits",
    notes: [
      'The module `desk` reads `tickets`, `contacts` and `departments` of Zoho Desk, and creates and updates tickets and contacts. Its connections also need `providerMetadata.zoho_desk_domain` (such as desk.zoho.eu) and `providerMetadata.zoho_desk_org_id`, and the scopes `Desk.tickets.ALL`, `Desk.contacts.ALL` and `Desk.basic.READ`. Its lists have no filter by the time of change, so each read fetches all records.',
      'Reads of more than 49 fields send several requests, because a request names at most 50.',
      'Subforms and lookups of several records are not read, because the vendor returns them only for a single record.',
      'Events are not supported: a channel expires within a week, and the vendor does not document how to renew it.',
    ],
    scopes: ['ZohoCRM.modules.ALL', 'ZohoCRM.settings.READ'],
    inputs: {
      zoho_token_domain: { displayName: 'Host of the accounts server, such as accounts.zoho.eu' },
    },
    errors: {
      messages: ['/data/0/message', '/message'],
      rules: [
        { status: 401, contains: 'OAUTH_SCOPE_MISMATCH', kind: 'FORBIDDEN' },
        { status: 400, contains: 'INVALID_MODULE', kind: 'MISSING_OBJECT' },
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
      // A token is valid for a day, and only for the parameters and headers of the first page.
      expiredCursor: [{ contains: 'EXPIRED_VALUE' }, { contains: 'TOKEN_BOUND_DATA_MISMATCH' }],
      depthLimit: { records: 100_000, beyond: 'keyset' },
      fieldsMax: 50,
      urlBytesMax: 'notDocumented',
      // Any field may be a subform or a lookup of several records. The vendor returns these only for a single record.
      nestedLists: [{ at: '/*', otherItems: 'missing' }],
      rateLimits: [{ contains: 'TOO_MANY_REQUESTS' }],
    },
    objects: {
      Leads: declareRecords('Leads', ['leads']),
      Contacts: declareRecords('Contacts', ['contacts']),
      Accounts: declareRecords('Accounts', ['accounts']),
      Deals: declareRecords('Deals', ['deals']),
      Tasks: declareRecords('Tasks', ['tasks']),
    },
    otherObjects: declareRecords('Records of a module'),
    objectList: {
      list: { path: '/crm/v8/settings/modules', records: '/modules', paging: { kind: 'none' } },
      name: '/api_name',
      displayName: '/plural_label',
    },
  },
};
