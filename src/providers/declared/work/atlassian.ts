/** Jira: a REST API that searches issues by JQL. */
import { HOUR_MS, MINUTE_MS } from '../../../work/durations.ts';
import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

/** JQL interprets times in the user's time zone, which is unknown. No zone is further than 14 hours from UTC. */
const JQL_FILTER = { in: 'body', name: '/jql', format: 'minutes' } as const;

const issues: ObjectDeclarationInput = {
  displayName: 'Issues',
  aliases: ['issue'],
  changedAt: { at: '/fields/updated', format: 'iso' },
  nestedFields: [{ at: '/fields' }],
  list: {
    method: 'POST',
    path: '/3/search/jql',
    records: '/issues',
    pageSize: { in: 'body', name: '/maxResults', max: 100 },
    paging: {
      kind: 'cursor',
      parameter: { in: 'body', name: '/nextPageToken' },
      next: '/nextPageToken',
      isLastPage: '/isLast',
    },
    // The newest change comes first, so that a read ends at its window although the filter is much wider.
    isNewestFirst: true,
    // The vendor refuses a search without a bound.
    since: { ...JQL_FILTER, template: 'updated >= "{time}"', isRequired: true },
    until: { ...JQL_FILTER, template: 'updated <= "{time}"' },
    filterExpression: { separator: ' AND ', template: '{all} ORDER BY updated DESC' },
    selectedFields: { in: 'body', name: '/fields', always: ['updated'], isList: true },
  },
  byIds: { path: '/3/issue/{id}', records: '' },
  create: { method: 'POST', path: '/3/issue', bodyRecord: '/fields', responseRecord: '' },
  update: { method: 'PUT', path: '/3/issue/{id}', bodyRecord: '/fields' },
  remove: { path: '/3/issue/{id}' },
  fieldList: {
    path: '/3/field',
    fields: '',
    name: '/id',
    displayName: '/name',
    type: '/schema/type',
    isCustom: '/custom',
    types: {
      string: 'STRING',
      number: 'FLOAT',
      date: 'DATE',
      datetime: 'DATETIME',
      user: 'REFERENCE',
      project: 'REFERENCE',
    },
  },
};

/** A list of the whole account, whose pages start after a number of records. */
const NUMBERED_LIST = {
  timeFilter: 'none',
  expiredCursor: { never: 'The next page starts after a number of records.' },
  nestedLists: 'notDocumented',
} as const;

const JIRA_URL = 'https://api.atlassian.com/ex/jira/{{cloudId}}/rest/api';

export const atlassian: DeclaredProvider = {
  name: 'atlassian',
  displayName: 'Atlassian',
  // The cloud id identifies the site. Atlassian lists it at /oauth/token/accessible-resources.
  baseUrl: JIRA_URL,
  modules: [{ name: 'jira', displayName: 'Jira', baseUrl: JIRA_URL }],
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://auth.atlassian.com/authorize',
    tokenUrl: 'https://auth.atlassian.com/oauth/token',
    // Atlassian, OAuth 2.0 (3LO) apps: the consent page requires both parameters.
    authorizeParams: { audience: 'api.atlassian.com', prompt: 'consent' },
    refreshTokenScopes: ['offline_access'],
    explicitScopesRequired: true,
  },
  // Lists the sites of the token, whatever its scopes.
  healthCheck: 'https://api.atlassian.com/oauth/token/accessible-resources',
  workspaceRequired: true,
  workspaceDisplayName: 'Site',
  workspaceHelp: {
    docsUrl:
      'https://support.atlassian.com/organization-administration/docs/update-your-product-and-site-url/',
  },
  api: {
    apiVersion: '3',
    docsUrl: 'https://developer.atlassian.com/cloud/jira/platform/rest/v3/',
    checkedAgainst:
      "the requests and responses of published connectors, and the vendor's guides on the search by JQL and rate limits",
    notes: [
      "Jira filters by the minute, in the user's time zone. The gateway therefore requests 14 more hours on each side, with the newest change first, and ends at the first issue before the window.",
      'An issue has at most 20 worklogs, and may lack comments. Request the others through the proxy.',
      'Events are not supported: a webhook of an app expires after 30 days, and its events do not name the site or the account.',
      'Rich text has the Atlassian Document Format. To change the status of an issue, send a transition through the proxy.',
    ],
    scopes: ['read:jira-work', 'write:jira-work', 'read:jira-user', 'offline_access'],
    inputs: { cloudId: { displayName: 'Id of the site', isOptional: true } },
    errors: {
      messages: ['/errorMessages', '/errors', '/message'],
      // Jira responds with 401 if the token lacks a scope.
      rules: [{ status: 401, contains: 'scope does not match', kind: 'FORBIDDEN' }],
      retryHeaders: [{ name: 'X-RateLimit-Reset', format: 'iso' }],
    },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: {
        precision: 'minute',
        zone: 'notDocumented',
        bounds: 'inclusive',
        column: 'changedAt',
      },
      // The vendor's search is eventually consistent, without a documented delay. The wide filter makes it cheap to look back.
      visibility: { lookBackMs: HOUR_MS },
      // A token expires after 7 days. The vendor does not document the text of the refusal.
      expiredCursor: [{ status: 400 }],
      depthLimit: 'notDocumented',
      fieldsMax: 'notDocumented',
      // Fields are in the body.
      urlBytesMax: 'none',
      nestedLists: [
        { at: '/fields/worklog/worklogs', itemsMax: 20, otherItems: 'missing' },
        { at: '/fields/comment/comments', otherItems: 'missing' },
      ],
      rateLimits: [
        { status: 429, waitMs: MINUTE_MS },
        { status: 503, header: { name: 'retry-after' } },
      ],
    },
    objects: {
      issues,
      projects: {
        displayName: 'Projects',
        list: {
          path: '/3/project/search',
          records: '/values',
          pageSize: { in: 'query', name: 'maxResults', max: 50 },
          paging: {
            kind: 'offset',
            parameter: { in: 'query', name: 'startAt' },
            isLastPage: '/isLast',
          },
          total: '/total',
          behavior: NUMBERED_LIST,
        },
        byIds: { path: '/3/project/{id}', records: '' },
        create: { method: 'POST', path: '/3/project', responseRecord: '' },
        update: { method: 'PUT', path: '/3/project/{id}', responseRecord: '' },
        remove: { path: '/3/project/{id}' },
      },
      users: {
        displayName: 'Users',
        id: '/accountId',
        list: {
          path: '/3/users/search',
          records: '',
          pageSize: { in: 'query', name: 'maxResults', max: 50 },
          paging: {
            kind: 'offset',
            parameter: { in: 'query', name: 'startAt' },
          },
          behavior: NUMBERED_LIST,
        },
      },
    },
  },
};
