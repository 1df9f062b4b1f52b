/** Front: a REST API whose pages link to the next page. */
import type {
  ListInput,
  ObjectDeclarationInput,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

/** Declares an object. Most updates return 204 without the record. */
function declareObject(
  displayName: string,
  name: string,
  {
    returnsRecord = true,
    list = {},
    hasChangeTime = true,
    canCreate = true,
    canUpdate = true,
    canDelete = true,
  }: {
    returnsRecord?: boolean;
    list?: Partial<ListInput>;
    hasChangeTime?: boolean;
    canCreate?: boolean;
    canUpdate?: boolean;
    canDelete?: boolean;
  } = {},
): ObjectDeclarationInput {
  const path = `/${name}`;
  return {
    displayName,
    ...(hasChangeTime && { changedAt: { at: '/updated_at', format: 'unixSeconds' } }),
    nestedFields: [{ at: '/custom_fields' }],
    list: {
      path,
      records: '/_results',
      pageSize: { in: 'query', name: 'limit', max: 100 },
      paging: { kind: 'nextUrl', next: '/_pagination/next' },
      ...list,
    },
    byIds: { path: `${path}/{id}`, records: '' },
    ...(canCreate && { create: { method: 'POST', path, responseRecord: '' } }),
    ...(canUpdate && {
      update: {
        method: 'PATCH',
        path: `${path}/{id}`,
        ...(returnsRecord && { responseRecord: '' }),
      },
    }),
    ...(canDelete && { remove: { path: `${path}/{id}` } }),
  };
}

/** Declares a list without pages, of records without a time of change. */
function declareUnpagedObject(
  displayName: string,
  name: string,
  { canCreate = false, canUpdate = false }: { canCreate?: boolean; canUpdate?: boolean } = {},
): ObjectDeclarationInput {
  const { list, ...object } = declareObject(displayName, name, {
    returnsRecord: false,
    hasChangeTime: false,
    canCreate,
    canUpdate,
    canDelete: false,
  });
  return { ...object, list: { path: list.path, records: list.records, paging: { kind: 'none' } } };
}

export const front: DeclaredProvider = {
  name: 'front',
  displayName: 'Front',
  baseUrl: 'https://api2.frontapp.com',
  // Links to the next page have the company's own host.
  linkHosts: ['*.api.frontapp.com'],
  authSchemes: ['API_KEY', 'OAUTH2_AUTHORIZATION_CODE'],
  credentialsDocsUrl: 'https://dev.frontapp.com/docs/create-and-revoke-api-tokens',
  apiKey: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
  oauth2: {
    authorizeUrl: 'https://app.frontapp.com/oauth/authorize',
    tokenUrl: 'https://app.frontapp.com/oauth/token',
    clientAuthentication: 'basic',
  },
  healthCheck: '/me',
  limits: { requestsPerSecond: 0.8, concurrency: 2 },
  api: {
    docsUrl: 'https://dev.frontapp.com',
    checkedAgainst:
      "the vendor's published OpenAPI description, and its guides on paging and rate limits",
    notes: [
      'Connect with an API token, or by a consent. Front requires a consent for public integrations.',
      'Events are not supported: the vendor reports messages and actions on conversations, not that records were created, updated or deleted.',
      "Channels can't be created: Front requires a parent inbox or teammate.",
    ],
    errors: { messages: ['/_error/message', '/_error/details'] },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: {
        precision: 'format',
        zone: 'utc',
        bounds: 'exclusive',
        column: 'changedAt',
      },
      visibility: 'notDocumented',
      expiredCursor: 'notDocumented',
      depthLimit: 'notDocumented',
      fieldsMax: 'none',
      urlBytesMax: 'notDocumented',
      nestedLists: 'notDocumented',
      rateLimits: 'status429',
    },
    objects: {
      contacts: declareObject('Contacts', 'contacts', {
        returnsRecord: false,
        list: {
          query: { sort_by: 'updated_at', sort_order: 'asc' },
          since: {
            in: 'query',
            name: 'q[updated_after]',
            format: 'unixSeconds',
          },
          until: {
            in: 'query',
            name: 'q[updated_before]',
            format: 'unixSeconds',
          },
        },
      }),
      accounts: declareObject('Accounts', 'accounts', {
        list: { query: { sort_by: 'updated_at', sort_order: 'desc' }, isNewestFirst: true },
      }),
      tags: declareObject('Tags', 'tags', { returnsRecord: false, hasChangeTime: false }),
      conversations: declareObject('Conversations', 'conversations', { returnsRecord: false }),
      links: declareObject('Links', 'links', {
        returnsRecord: false,
        hasChangeTime: false,
        canDelete: false,
      }),
      message_templates: declareObject('Message templates', 'message_templates', {
        hasChangeTime: false,
        list: { pageSize: undefined },
      }),
      message_template_folders: declareObject(
        'Message template folders',
        'message_template_folders',
        {
          list: { pageSize: undefined },
        },
      ),
      channels: declareUnpagedObject('Channels', 'channels', { canUpdate: true }),
      inboxes: declareUnpagedObject('Inboxes', 'inboxes', { canCreate: true }),
      teammates: declareUnpagedObject('Teammates', 'teammates', { canUpdate: true }),
      teams: declareUnpagedObject('Teams', 'teams'),
      rules: declareUnpagedObject('Rules', 'rules'),
    },
  },
};
