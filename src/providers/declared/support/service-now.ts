/** ServiceNow: a REST API for the tables of an instance. */
import type {
  ListInput,
  ObjectDeclarationInput,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

const PATH = '/api/now/table/{object}';
const QUERY = { in: 'query', name: 'sysparm_query' } as const;
const TIME_FILTER = { ...QUERY, format: 'spaced' } as const;

/** Members that both lists of a table share. */
const TABLE_LIST = {
  path: PATH,
  records: '/result',
  pageSize: { in: 'query', name: 'sysparm_limit', max: 1000 },
  paging: { kind: 'offset', parameter: { in: 'query', name: 'sysparm_offset' } },
  since: { ...TIME_FILTER, template: 'sys_updated_on>={time}' },
  until: { ...TIME_FILTER, template: 'sys_updated_on<={time}' },
  totalHeader: 'X-Total-Count',
  selectedFields: {
    in: 'query',
    name: 'sysparm_fields',
    always: ['sys_id', 'sys_updated_on'],
    returnsAllByDefault: true,
  },
} as const satisfies ListInput;

const VALUE_FORMAT = {
  sysparm_display_value: 'false',
  sysparm_exclude_reference_link: 'true',
};

/** Declares a table. All values are strings in their database form. */
function declareTable(displayName: string): ObjectDeclarationInput {
  return {
    displayName,
    id: '/sys_id',
    changedAt: { at: '/sys_updated_on', format: 'spaced' },
    list: {
      ...TABLE_LIST,
      query: { ...VALUE_FORMAT, sysparm_query: 'ORDERBYsys_id' },
      afterId: { ...QUERY, template: 'sys_id>{id}' },
      filterExpression: { separator: '^', template: '{all}^ORDERBYsys_id' },
      equalityFilter: {
        ...QUERY,
        template: '{field}={value}',
        quoting: 'caret',
        names: { shape: 'lowerCasePath' },
      },
    },
    // The zone of the filter is uncertain, so the window is much wider than the read's. The read stops at its beginning.
    incrementalList: {
      ...TABLE_LIST,
      query: VALUE_FORMAT,
      filterExpression: {
        separator: '^',
        // Pages of records with equal times need a second column, or the vendor may repeat and omit records.
        template: '{all}^ORDERBYDESCsys_updated_on^ORDERBYsys_id',
      },
      isNewestFirst: true,
    },
    byIds: { path: `${PATH}/{id}`, records: '/result' },
    create: { method: 'POST', path: PATH, responseRecord: '/result' },
    update: { method: 'PATCH', path: `${PATH}/{id}`, responseRecord: '/result' },
    remove: { path: `${PATH}/{id}` },
  };
}

export const serviceNow: DeclaredProvider = {
  name: 'serviceNow',
  displayName: 'ServiceNow',
  baseUrl: 'https://{{workspace}}.service-now.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://{{workspace}}.service-now.com/oauth_auth.do',
    tokenUrl: 'https://{{workspace}}.service-now.com/oauth_token.do',
    tokenFields: { scopes: 'scope' },
    // ServiceNow: the response if the refresh token has expired or was revoked.
    tokenErrors: [
      { status: 401, code: 'server_error', description: 'access_denied', kind: 'AUTH_INVALIDATED' },
    ],
  },
  healthCheck: '/api/now/table/sys_user?sysparm_limit=1&sysparm_fields=sys_id',
  workspaceRequired: true,
  workspaceDisplayName: 'Instance',
  workspaceHelp: {
    prompt:
      'Please provide your instance Name — for example, dev1234 if your instance base URL: https://dev1234.service-now.com.',
  },
  api: {
    docsUrl:
      'https://www.servicenow.com/docs/bundle/xanadu-api-reference/page/integrate/inbound-rest/concept/c_TableAPI.html',
    checkedAgainst:
      "the requests and responses of published connectors, and the vendor's articles on incomplete results, canceled transactions, rate limits and time zones",
    notes: [
      'All values are strings. An empty value is `""`.',
      'Events are not supported: they require business rules in the instance, which the gateway does not create.',
    ],
    errors: {
      messages: ['/error/detail', '/error/message', '/error'],
      // A transaction that takes too long is canceled. Its response may have status 200 and only some of the records.
      failureMember: '/error',
      // The vendor stops a transaction while it runs. A write may have been executed before.
      rules: [{ contains: 'Transaction cancelled', kind: 'SERVER_ERROR' }],
    },
    behavior: {
      // Access rules apply after the limit.
      shortPage: 'hidden',
      timeFilter: {
        precision: 'format',
        // Most sources say UTC, and some the time zone of the user.
        zone: 'notDocumented',
        bounds: 'inclusive',
        column: 'changedAt',
      },
      visibility: 'notDocumented',
      expiredCursor: { never: 'Pages start at an offset or after a record.' },
      depthLimit: 'none',
      fieldsMax: 'none',
      urlBytesMax: 'notDocumented',
      nestedLists: 'complete',
      rateLimits: 'status429',
    },
    objects: {
      incident: declareTable('Incidents'),
      problem: declareTable('Problems'),
      change_request: declareTable('Change requests'),
      sys_user: declareTable('Users'),
      core_company: declareTable('Companies'),
    },
    otherObjects: declareTable('Records of a table'),
  },
};
