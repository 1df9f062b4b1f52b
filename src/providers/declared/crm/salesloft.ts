import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

function object(
  displayName: string,
  name: string,
  { isReadOnly = false }: { isReadOnly?: boolean } = {},
): ObjectDeclarationInput {
  const path = `/v2/${name}`;
  return {
    displayName,
    changedAt: { at: '/updated_at', format: 'iso' },
    all: {
      path,
      query: { sort_by: 'updated_at', sort_direction: 'asc' },
      records: '/data',
      size: { in: 'query', name: 'per_page', max: 100 },
      paging: {
        kind: 'cursor',
        send: { in: 'query', name: 'page' },
        next: '/metadata/paging/next_page',
      },
      since: { in: 'query', name: 'updated_at[gte]', format: 'iso' },
      isKeyset: true,
    },
    byIds: { path: `${path}/{id}`, records: '/data' },
    ...(!isReadOnly && {
      create: { method: 'POST', path, record: '/data' },
      update: { method: 'PUT', path: `${path}/{id}`, record: '/data' },
      remove: { path: `${path}/{id}` },
    }),
  };
}

export const salesloft: DeclaredProvider = {
  name: 'salesloft',
  displayName: 'Salesloft',
  baseUrl: 'https://api.salesloft.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://accounts.salesloft.com/oauth/authorize',
    tokenUrl: 'https://accounts.salesloft.com/oauth/token',
  },
  records: {
    apiVersion: 'v2',
    docsUrl: 'https://developers.salesloft.com',
    checkedAgainst: 'the shapes that published connectors rely on',
    notes: [
      'Subscribing is left out: the documents leave open where the answer has the id of the subscription.',
    ],
    errors: { messages: ['/error', '/errors'] },
    objects: {
      people: object('People', 'people'),
      accounts: object('Accounts', 'accounts'),
      tasks: object('Tasks', 'tasks'),
      users: object('Users', 'users', { isReadOnly: true }),
    },
  },
};
