/** GitHub: a REST API with Link headers. */
import { MINUTE_MS } from '../../../work/durations.ts';
import type {
  ListInput,
  ObjectDeclarationInput,
  StandardFields,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

const PAGE_SIZE = { in: 'query', name: 'per_page', max: 100 } as const;
const SINCE = { in: 'query', name: 'since', format: 'isoSeconds' } as const;
const CHANGED_AT = { at: '/updated_at', format: 'isoSeconds' } as const;
const OLDEST_CHANGE_FIRST = { sort: 'updated', direction: 'asc' };

const ISSUE_ID = {
  parts: {
    repository: { at: '/repository_url', lastSegments: 2 },
    number: '/number',
  },
  separator: '#',
};
const ISSUE_BY_ID = { path: '/repos/{+repository}/issues/{number}', records: '' };
const ISSUE_FIELDS: StandardFields = {
  id: 'STRING',
  number: 'INT',
  title: 'STRING',
  body: 'STRING',
  state: 'STRING',
  repository_url: 'STRING',
  updated_at: 'DATETIME',
};

/** Declares a list of the signed-in user's own entries, which have no time of change. */
function declareOwnList(path: string, records = ''): ListInput {
  return {
    path,
    records,
    pageSize: PAGE_SIZE,
    paging: { kind: 'link' },
    behavior: { timeFilter: 'none' },
  };
}

/** Objects of the signed-in user, and of GitHub itself. */
const userObjects: Record<string, ObjectDeclarationInput> = {
  users: {
    displayName: 'Users',
    list: {
      path: '/users',
      records: '',
      pageSize: PAGE_SIZE,
      paging: { kind: 'lastId', parameter: { in: 'query', name: 'since' } },
      behavior: {
        timeFilter: 'none',
        expiredCursor: { never: 'Pages start after an id.' },
      },
    },
    byIds: { path: '/user/{id}', records: '' },
    standardFields: { id: 'STRING', login: 'STRING', type: 'STRING', avatar_url: 'STRING' },
  },
  'user/emails': {
    displayName: 'Email addresses',
    id: '/email',
    list: declareOwnList('/user/emails'),
    create: { method: 'POST', path: '/user/emails', responseRecord: '/0' },
    standardFields: {
      email: 'STRING',
      primary: 'BOOLEAN',
      verified: 'BOOLEAN',
      visibility: 'STRING',
    },
  },
  'user/issues': {
    displayName: "The user's issues",
    id: ISSUE_ID,
    changedAt: CHANGED_AT,
    list: {
      path: '/user/issues',
      query: { state: 'all', ...OLDEST_CHANGE_FIRST },
      records: '',
      skipIfPresent: '/pull_request',
      pageSize: PAGE_SIZE,
      paging: { kind: 'link' },
      since: SINCE,
      isKeysetPaged: true,
    },
    byIds: ISSUE_BY_ID,
    standardFields: ISSUE_FIELDS,
  },
  'user/codespaces': {
    displayName: 'Codespaces',
    id: '/name',
    changedAt: CHANGED_AT,
    list: declareOwnList('/user/codespaces', '/codespaces'),
    byIds: { path: '/user/codespaces/{id}', records: '' },
    create: { method: 'POST', path: '/user/codespaces', responseRecord: '' },
    update: { method: 'PATCH', path: '/user/codespaces/{id}', responseRecord: '' },
    remove: { path: '/user/codespaces/{id}' },
    standardFields: { name: 'STRING', display_name: 'STRING', state: 'STRING' },
  },
  'user/social_accounts': {
    displayName: 'Social accounts',
    id: '/url',
    list: declareOwnList('/user/social_accounts'),
    create: { method: 'POST', path: '/user/social_accounts', responseRecord: '/0' },
    standardFields: { url: 'STRING', provider: 'STRING' },
  },
};

export const github: DeclaredProvider = {
  name: 'github',
  displayName: 'GitHub',
  baseUrl: 'https://api.github.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE', 'OAUTH2_AUTHORIZATION_CODE_PKCE'],
  oauth2: {
    authorizeUrl: 'https://github.com/login/oauth/authorize',
    tokenUrl: 'https://github.com/login/oauth/access_token',
    explicitScopesRequired: true,
    tokenFields: { scopes: 'scope' },
    // GitHub: errors of access token requests. They have the status 200.
    tokenErrors: [
      { code: 'bad_refresh_token', kind: 'AUTH_INVALIDATED' },
      { code: 'bad_verification_code', kind: 'AUTH_INVALIDATED' },
      { code: 'incorrect_client_credentials', kind: 'AUTH_INVALIDATED' },
    ],
  },
  healthCheck: '/user',
  // The vendor permits 5,000 requests per hour for each user.
  limits: { requestsPerSecond: 1.4 },
  api: {
    apiVersion: '2022-11-28',
    docsUrl: 'https://docs.github.com/rest',
    checkedAgainst:
      "the vendor's published OpenAPI description, and its guides on rate limits, paging and gists",
    notes: [
      'A gist has at most its first 300 files.',
      '`users` are all accounts of the vendor in the order of their ids, so a full read takes weeks.',
      '`user/issues` are the issues that are assigned to the signed-in user.',
      'A write of `user/emails` needs `emails`, and one of `user/social_accounts` needs `account_urls`: lists, from which the result names the first entry.',
      'Issues are read from all repositories that the account owns or collaborates on. Their id is `owner/name#number`.',
    ],
    scopes: ['repo', 'gist', 'user', 'codespace'],
    headers: { 'X-GitHub-Api-Version': '2022-11-28', accept: 'application/vnd.github+json' },
    errors: {
      messages: ['/errors', '/message'],
      rules: [],
      retryHeaders: [
        {
          name: 'x-ratelimit-reset',
          format: 'unixSeconds',
          requires: { name: 'x-ratelimit-remaining', value: '0' },
        },
      ],
    },
    events: {
      authentication: {
        kind: 'hmac',
        header: 'X-Hub-Signature-256',
        prefix: 'sha256=',
        algorithm: 'sha256',
        encoding: 'hex',
      },
      account: { source: 'event', at: '/repository/owner/login', ignoresCase: true },
      typeParts: [{ header: 'X-GitHub-Event' }, '/action'],
      types: {
        'issues.opened': { object: 'issues', kind: 'CREATE' },
        'issues.edited': { object: 'issues', kind: 'UPDATE' },
        'issues.closed': { object: 'issues', kind: 'UPDATE' },
        'issues.reopened': { object: 'issues', kind: 'UPDATE' },
        'issues.deleted': { object: 'issues', kind: 'DELETE' },
      },
      eventIdParts: [{ header: 'X-GitHub-Delivery' }],
      recordId: { parts: ['/repository/full_name', '/issue/number'], separator: '#' },
      time: { at: '/issue/updated_at', format: 'isoSeconds' },
      changedFields: '/changes',
      record: '/issue',
      instructions: [
        "At GitHub, open the app's settings and enter {url} as the webhook URL, with the content type application/json.",
        'Enter a secret, and set it as `webhookSecret` of the provider app.',
        'Subscribe to the event Issues. `providerWorkspaceRef` of a connection must be the owner of its repositories.',
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
      // Next pages are numbers in most lists, and the vendor may replace them by cursors.
      expiredCursor: 'notDocumented',
      // The vendor documents no limit for these lists. They rarely need a second page of one position.
      depthLimit: 'notDocumented',
      // Requests name no fields.
      fieldsMax: 'none',
      urlBytesMax: 'none',
      nestedLists: 'notDocumented',
      // The vendor's secondary limit has no header. Its guide requires a wait of at least a minute.
      rateLimits: [
        { status: 403, header: { name: 'x-ratelimit-remaining', value: '0' } },
        { status: 403, header: { name: 'retry-after' } },
        { status: 403, contains: 'rate limit', waitMs: MINUTE_MS },
        { status: 403, contains: 'abuse detection', waitMs: MINUTE_MS },
        { status: 429, waitMs: MINUTE_MS },
      ],
    },
    objects: {
      repositories: {
        displayName: 'Repositories',
        aliases: ['repos'],
        id: '/full_name',
        changedAt: CHANGED_AT,
        list: {
          path: '/user/repos',
          query: OLDEST_CHANGE_FIRST,
          records: '',
          pageSize: PAGE_SIZE,
          paging: { kind: 'link' },
          since: { ...SINCE },
          isKeysetPaged: true,
        },
        byIds: { path: '/repos/{+id}', records: '' },
        create: { method: 'POST', path: '/user/repos', responseRecord: '' },
        update: { method: 'PATCH', path: '/repos/{+id}', responseRecord: '' },
        remove: { path: '/repos/{+id}' },
        standardFields: {
          id: 'STRING',
          name: 'STRING',
          description: 'STRING',
          private: 'BOOLEAN',
          archived: 'BOOLEAN',
          default_branch: 'STRING',
          updated_at: 'DATETIME',
        },
      },
      issues: {
        displayName: 'Issues',
        id: ISSUE_ID,
        changedAt: CHANGED_AT,
        list: {
          path: '/issues',
          query: { filter: 'all', state: 'all', ...OLDEST_CHANGE_FIRST },
          records: '',
          // The list of issues also contains pull requests.
          skipIfPresent: '/pull_request',
          pageSize: PAGE_SIZE,
          paging: { kind: 'link' },
          since: SINCE,
          isKeysetPaged: true,
        },
        byIds: ISSUE_BY_ID,
        create: { method: 'POST', path: '/repos/{+repository}/issues', responseRecord: '' },
        update: {
          method: 'PATCH',
          path: '/repos/{+repository}/issues/{number}',
          responseRecord: '',
        },
        standardFields: ISSUE_FIELDS,
      },
      gists: {
        displayName: 'Gists',
        changedAt: CHANGED_AT,
        list: {
          path: '/gists',
          records: '',
          pageSize: PAGE_SIZE,
          paging: { kind: 'link' },
          since: SINCE,
          behavior: { nestedLists: [{ at: '/files', itemsMax: 300, otherItems: 'missing' }] },
        },
        byIds: { path: '/gists/{id}', records: '' },
        create: { method: 'POST', path: '/gists', responseRecord: '' },
        update: { method: 'PATCH', path: '/gists/{id}', responseRecord: '' },
        remove: { path: '/gists/{id}' },
        standardFields: {
          id: 'STRING',
          description: 'STRING',
          public: 'BOOLEAN',
          files: 'OTHER',
          updated_at: 'DATETIME',
        },
      },
      ...userObjects,
    },
  },
};
