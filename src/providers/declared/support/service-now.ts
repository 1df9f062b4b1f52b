/** ServiceNow: a REST API for the tables of an instance. */
import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

const PATH = '/api/now/table/{object}';
const TIME_FILTER = { in: 'query', name: 'sysparm_query', format: 'spaced' } as const;

/** Declares a table. All values are strings in their database form. */
function declareTable(displayName: string): ObjectDeclarationInput {
  return {
    displayName,
    id: '/sys_id',
    changedAt: { at: '/sys_updated_on', format: 'spaced' },
    list: {
      path: PATH,
      query: {
        sysparm_display_value: 'false',
        sysparm_exclude_reference_link: 'true',
      },
      records: '/result',
      pageSize: { in: 'query', name: 'sysparm_limit', max: 1000 },
      paging: { kind: 'offset', parameter: { in: 'query', name: 'sysparm_offset' } },
      since: { ...TIME_FILTER, template: 'sys_updated_on>={time}', isRequired: true },
      until: { ...TIME_FILTER, template: 'sys_updated_on<={time}' },
      filterExpression: { separator: '^', template: '{all}^ORDERBYsys_updated_on' },
      isKeysetPaged: true,
      totalHeader: 'X-Total-Count',
      equalityFilter: {
        in: 'query',
        name: 'sysparm_query',
        template: '{field}={value}',
        quoting: 'caret',
        namePattern: /^[a-z]\w*(\.\w+)*$/,
      },
      selectedFields: { in: 'query', name: 'sysparm_fields', always: ['sys_id', 'sys_updated_on'] },
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
  },
  workspaceRequired: true,
  api: {
    docsUrl:
      'https://www.servicenow.com/docs/bundle/xanadu-api-reference/page/integrate/inbound-rest/concept/c_TableAPI.html',
    checkedAgainst: 'the requests and responses of published connectors',
    notes: [
      'All values are strings. An empty value is `""`.',
      'Events are not supported: they require business rules in the instance, which the gateway does not create.',
    ],
    errors: { messages: ['/error/detail', '/error/message', '/error'] },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: {
        precision: 'format',
        zone: 'utc',
        bounds: 'inclusive',
        column: 'changedAt',
      },
      visibility: 'notDocumented',
      expiredCursor: 'notDocumented',
      depthLimit: 'notDocumented',
      fieldsMax: 'notDocumented',
      urlBytesMax: 'notDocumented',
      nestedLists: 'notDocumented',
      rateLimits: 'notDocumented',
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
