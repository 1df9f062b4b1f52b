/** Salesloft: a REST API with lists that are sorted by the time of change. */
import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

function declareObject(
  displayName: string,
  name: string,
  {
    isReadOnly = false,
    canCreate = !isReadOnly,
    canUpdate = !isReadOnly,
    canDelete = !isReadOnly,
  }: { isReadOnly?: boolean; canCreate?: boolean; canUpdate?: boolean; canDelete?: boolean } = {},
): ObjectDeclarationInput {
  const path = `/v2/${name}`;
  return {
    displayName,
    changedAt: { at: '/updated_at', format: 'iso' },
    list: {
      path,
      query: { sort_by: 'updated_at', sort_direction: 'asc' },
      records: '/data',
      pageSize: { in: 'query', name: 'per_page', max: 100 },
      paging: {
        kind: 'cursor',
        parameter: { in: 'query', name: 'page' },
        next: '/metadata/paging/next_page',
      },
      since: { in: 'query', name: 'updated_at[gte]', format: 'iso' },
      isKeysetPaged: true,
    },
    byIds: { path: `${path}/{id}`, records: '/data' },
    ...(canCreate && { create: { method: 'POST', path, responseRecord: '/data' } }),
    ...(canUpdate && { update: { method: 'PUT', path: `${path}/{id}`, responseRecord: '/data' } }),
    ...(canDelete && { remove: { path: `${path}/{id}` } }),
  };
}

/** Declares saved list views, which have no time of change. The vendor sorts them only by name. */
function declareSavedListViews(): ObjectDeclarationInput {
  const { changedAt: _, list, ...object } = declareObject('Saved list views', 'saved_list_views');
  const { path, records, pageSize, paging } = list;
  return { ...object, list: { path, records, pageSize, paging } };
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
  healthCheck: '/v2/me',
  api: {
    apiVersion: 'v2',
    docsUrl: 'https://developers.salesloft.com',
    checkedAgainst:
      "the requests and responses of published connectors, and the vendor's guides on rate limits and on polling",
    notes: [
      'Events are not supported: the vendor does not document which member of the response is the id of the subscription.',
    ],
    errors: { messages: ['/error', '/errors'] },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: {
        precision: 'format',
        zone: 'utc',
        bounds: 'inclusive',
        column: 'changedAt',
      },
      visibility: 'notDocumented',
      expiredCursor: { never: 'Pages are requested by their number.' },
      // Pages above 100 cost more of the rate limit.
      depthLimit: 'none',
      fieldsMax: 'none',
      urlBytesMax: 'notDocumented',
      nestedLists: 'notDocumented',
      rateLimits: 'status429',
    },
    objects: {
      people: declareObject('People', 'people'),
      accounts: declareObject('Accounts', 'accounts'),
      tasks: declareObject('Tasks', 'tasks'),
      users: declareObject('Users', 'users', { isReadOnly: true }),
      notes: declareObject('Notes', 'notes'),
      saved_list_views: declareSavedListViews(),
      'activities/calls': declareObject('Calls', 'activities/calls', {
        canUpdate: false,
        canDelete: false,
      }),
      'activities/emails': declareObject('Emails', 'activities/emails', { isReadOnly: true }),
      cadences: declareObject('Cadences', 'cadences', { isReadOnly: true }),
      cadence_memberships: declareObject('Cadence memberships', 'cadence_memberships', {
        canUpdate: false,
      }),
      conversations: declareObject('Conversations', 'conversations', { isReadOnly: true }),
      email_templates: declareObject('Email templates', 'email_templates', { canDelete: false }),
    },
  },
};
