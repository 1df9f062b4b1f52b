import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

/** JSON:API: attributes and relationships apart, the id in the body of a change too. */
function object(displayName: string, name: string, type: string | null): ObjectDeclarationInput {
  const path = `/api/v2/${name}`;
  return {
    displayName,
    changedAt: { at: '/attributes/updatedAt', format: 'iso' },
    nested: [{ at: '/attributes' }],
    all: {
      path,
      query: { sort: 'updatedAt' },
      records: '/data',
      size: { in: 'query', name: 'page[size]', max: 1000 },
      paging: { kind: 'nextUrl', next: '/links/next' },
      since: { in: 'query', name: 'filter[updatedAt]', format: 'iso', template: '{time}..inf' },
    },
    byIds: { path: `${path}/{id}`, records: '/data' },
    ...(type && {
      create: {
        method: 'POST',
        path,
        wrap: '/data/attributes',
        body: { data: { type } },
        record: '/data',
      },
      update: {
        method: 'PATCH',
        path: `${path}/{id}`,
        wrap: '/data/attributes',
        body: { data: { type } },
        id: '/data/id',
        record: '/data',
      },
      remove: { path: `${path}/{id}` },
    }),
  };
}

export const outreach: DeclaredProvider = {
  name: 'outreach',
  displayName: 'Outreach',
  baseUrl: 'https://api.outreach.io',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://api.outreach.io/oauth/authorize',
    tokenUrl: 'https://api.outreach.io/oauth/token',
    explicitScopesRequired: true,
    tokenFields: { scopes: 'scope' },
  },
  // 10,000 an hour for each user.
  limits: { requestsPerSecond: 2.7 },
  records: {
    apiVersion: 'v2',
    docsUrl: 'https://developers.outreach.io/api/',
    checkedAgainst: 'the shapes that published connectors rely on',
    scopes: ['prospects.all', 'accounts.all', 'opportunities.all', 'tasks.all', 'users.read'],
    headers: { 'content-type': 'application/vnd.api+json', accept: 'application/vnd.api+json' },
    errors: { messages: ['/errors'] },
    objects: {
      prospects: object('Prospects', 'prospects', 'prospect'),
      accounts: object('Accounts', 'accounts', 'account'),
      opportunities: object('Opportunities', 'opportunities', 'opportunity'),
      tasks: object('Tasks', 'tasks', 'task'),
      users: object('Users', 'users', null),
    },
  },
};
