/** Front, of frontapp.com. */
import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

function object(
  displayName: string,
  name: string,
  {
    isAnswered = true,
    list = {},
    changedAt = true,
  }: {
    isAnswered?: boolean;
    list?: Partial<ObjectDeclarationInput['all']>;
    changedAt?: boolean;
  } = {},
): ObjectDeclarationInput {
  const path = `/${name}`;
  return {
    displayName,
    ...(changedAt && { changedAt: { at: '/updated_at', format: 'unixSeconds' } }),
    nested: [{ at: '/custom_fields' }],
    all: {
      path,
      records: '/_results',
      size: { in: 'query', name: 'limit', max: 100 },
      paging: { kind: 'nextUrl', next: '/_pagination/next' },
      ...list,
    },
    byIds: { path: `${path}/{id}`, records: '' },
    create: { method: 'POST', path, record: '' },
    // Most updates are answered by 204.
    update: { method: 'PATCH', path: `${path}/{id}`, ...(isAnswered && { record: '' }) },
    remove: { path: `${path}/{id}` },
  };
}

export const front: DeclaredProvider = {
  name: 'front',
  displayName: 'Front',
  baseUrl: 'https://api2.frontapp.com',
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
      'Subscribing is left out: the vendor tells of messages and of what is done with conversations, and not that records are made, changed or deleted.',
    ],
    errors: { messages: ['/_error/message', '/_error/details'] },
    objects: {
      contacts: object('Contacts', 'contacts', {
        isAnswered: false,
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
      accounts: object('Accounts', 'accounts', {
        list: { query: { sort_by: 'updated_at', sort_order: 'desc' }, newestFirst: true },
      }),
      tags: object('Tags', 'tags', { isAnswered: false, changedAt: false }),
    },
  },
};
