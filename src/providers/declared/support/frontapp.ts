import type {
  ListInput,
  ObjectDeclarationInput,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

function declareObject(
  displayName: string,
  name: string,
  {
    returnsRecord = true,
    list = {},
    changedAt = true,
    creates = true,
    updates = true,
    removes = true,
  }: {
    returnsRecord?: boolean;
    list?: Partial<ListInput>;
    changedAt?: boolean;
    creates?: boolean;
    updates?: boolean;
    removes?: boolean;
  } = {},
): ObjectDeclarationInput {
  const path = `/${name}`;
  return {
    displayName,
    ...(changedAt && { changedAt: { at: '/updated_at', format: 'unixSeconds' } }),
    nested: [{ at: '/custom_fields' }],
    list: {
      path,
      records: '/_results',
      pageSize: { in: 'query', name: 'limit', max: 100 },
      paging: { kind: 'nextUrl', next: '/_pagination/next' },
      ...list,
    },
    byIds: { path: `${path}/{id}`, records: '' },
    ...(creates && { create: { method: 'POST', path, responseRecord: '' } }),
    // Most updates return 204.
    ...(updates && {
      update: {
        method: 'PATCH',
        path: `${path}/{id}`,
        ...(returnsRecord && { responseRecord: '' }),
      },
    }),
    ...(removes && { remove: { path: `${path}/{id}` } }),
  };
}

/** Declares a list without pages, of records without a time of change. */
function unpagedObject(
  displayName: string,
  name: string,
  { creates = false, updates = false }: { creates?: boolean; updates?: boolean } = {},
): ObjectDeclarationInput {
  const { list, ...rest } = declareObject(displayName, name, {
    returnsRecord: false,
    changedAt: false,
    creates,
    updates,
    removes: false,
  });
  return { ...rest, list: { path: list.path, records: list.records, paging: { kind: 'none' } } };
}

export const front: DeclaredProvider = {
  name: 'front',
  displayName: 'Front',
  baseUrl: 'https://api2.frontapp.com',
  // Links to the next page have the company's own host.
  linkHosts: ['*.api.frontapp.com'],
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://app.frontapp.com/oauth/authorize',
    tokenUrl: 'https://app.frontapp.com/oauth/token',
    clientAuthentication: 'basic',
  },
  limits: { requestsPerSecond: 0.8, concurrency: 2 },
  records: {
    docsUrl: 'https://dev.frontapp.com',
    checkedAgainst: "the vendor's published OpenAPI description",
    notes: [
      'Subscribing is not supported: the vendor reports messages and what is done with conversations, and not that records are created, changed or deleted.',
      'Creating a channel is not supported: the vendor creates channels below an inbox or a teammate.',
    ],
    errors: { messages: ['/_error/message', '/_error/details'] },
    objects: {
      contacts: declareObject('Contacts', 'contacts', {
        returnsRecord: false,
        list: {
          query: { sort_by: 'updated_at', sort_order: 'asc' },
          since: {
            in: 'query',
            name: 'q[updated_after]',
            format: 'unixSeconds',
            isExclusive: true,
          },
          until: {
            in: 'query',
            name: 'q[updated_before]',
            format: 'unixSeconds',
            isExclusive: true,
          },
        },
      }),
      accounts: declareObject('Accounts', 'accounts', {
        list: { query: { sort_by: 'updated_at', sort_order: 'desc' }, isNewestFirst: true },
      }),
      tags: declareObject('Tags', 'tags', { returnsRecord: false, changedAt: false }),
      conversations: declareObject('Conversations', 'conversations', { returnsRecord: false }),
      links: declareObject('Links', 'links', {
        returnsRecord: false,
        changedAt: false,
        removes: false,
      }),
      message_templates: declareObject('Message templates', 'message_templates', {
        changedAt: false,
        list: { pageSize: undefined },
      }),
      message_template_folders: declareObject(
        'Message template folders',
        'message_template_folders',
        {
          list: { pageSize: undefined },
        },
      ),
      channels: unpagedObject('Channels', 'channels', { updates: true }),
      inboxes: unpagedObject('Inboxes', 'inboxes', { creates: true }),
      teammates: unpagedObject('Teammates', 'teammates', { updates: true }),
      teams: unpagedObject('Teams', 'teams'),
      rules: unpagedObject('Rules', 'rules'),
    },
  },
};
