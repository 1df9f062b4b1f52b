import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

type Known = NonNullable<ObjectDeclarationInput['known']>;

function list(path: string, records: string, max: number): ObjectDeclarationInput['all'] {
  return {
    path,
    records: `/${records}`,
    size: { in: 'query', name: 'page_size', max },
    paging: {
      kind: 'cursor',
      send: { in: 'query', name: 'next_page_token' },
      next: '/next_page_token',
    },
    total: '/total_records',
  };
}

/** Updates are answered by 204. */
function changes(name: string): Pick<ObjectDeclarationInput, 'byIds' | 'update' | 'remove'> {
  return {
    byIds: { path: `/v2/${name}/{id}`, records: '' },
    update: { method: 'PATCH', path: `/v2/${name}/{id}` },
    remove: { path: `/v2/${name}/{id}` },
  };
}

const MEETING: Known = {
  id: 'STRING',
  topic: 'STRING',
  agenda: 'STRING',
  start_time: 'DATETIME',
  duration: 'INT',
  timezone: 'STRING',
  join_url: 'STRING',
};
const OF_USER = { object: 'users', as: 'user_id' };

export const zoom: DeclaredProvider = {
  name: 'zoom',
  displayName: 'Zoom',
  baseUrl: 'https://api.zoom.us',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://zoom.us/oauth/authorize',
    tokenUrl: 'https://zoom.us/oauth/token',
    revocation: { method: 'POST', url: 'https://zoom.us/oauth/revoke' },
    clientAuthentication: 'basic',
    tokenFields: { scopes: 'scope' },
  },
  records: {
    apiVersion: 'v2',
    docsUrl: 'https://developers.zoom.us/docs/api/',
    checkedAgainst:
      "the vendor's published OpenAPI descriptions of users and meetings (2025-02-18)",
    notes: ['Users are the active ones. Meetings and webinars are read user by user.'],
    errors: { messages: ['/errors', '/message'] },
    objects: {
      users: {
        displayName: 'Users',
        all: list('/v2/users', 'users', 2000),
        create: {
          method: 'POST',
          path: '/v2/users',
          wrap: '/user_info',
          body: { action: 'create' },
          record: '',
        },
        ...changes('users'),
        known: { id: 'STRING', email: 'STRING', first_name: 'STRING', last_name: 'STRING' },
      },
      meetings: {
        displayName: 'Meetings',
        parent: OF_USER,
        all: {
          ...list('/v2/users/{user_id}/meetings', 'meetings', 300),
          query: { type: 'scheduled' },
        },
        create: { method: 'POST', path: '/v2/users/{user_id}/meetings', record: '' },
        ...changes('meetings'),
        known: MEETING,
      },
      webinars: {
        displayName: 'Webinars',
        parent: OF_USER,
        all: list('/v2/users/{user_id}/webinars', 'webinars', 300),
        create: { method: 'POST', path: '/v2/users/{user_id}/webinars', record: '' },
        ...changes('webinars'),
        known: MEETING,
      },
      groups: {
        displayName: 'Groups',
        all: list('/v2/groups', 'groups', 300),
        create: { method: 'POST', path: '/v2/groups', record: '' },
        ...changes('groups'),
        known: { id: 'STRING', name: 'STRING', total_members: 'INT' },
      },
    },
  },
};
