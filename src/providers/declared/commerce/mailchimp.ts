/** Mailchimp: a REST API whose members are listed under each audience. */
import type {
  ListInput,
  ObjectDeclarationInput,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

function declareList(path: string, records: string): ListInput {
  return {
    path,
    records: `/${records}`,
    pageSize: { in: 'query', name: 'count', max: 1000 },
    paging: { kind: 'offset', parameter: { in: 'query', name: 'offset' } },
    total: '/total_items',
  };
}

function declareObject(displayName: string, name: string): ObjectDeclarationInput {
  const path = `/3.0/${name}`;
  return {
    displayName,
    list: declareList(path, name),
    byIds: { path: `${path}/{id}`, records: '' },
    create: { method: 'POST', path, responseRecord: '' },
    update: { method: 'PATCH', path: `${path}/{id}`, responseRecord: '' },
    remove: { path: `${path}/{id}` },
  };
}

const MEMBERS = '/3.0/lists/{list_id}/members';

export const mailchimp: DeclaredProvider = {
  name: 'mailchimp',
  displayName: 'Mailchimp',
  // The host starts with the account's data center, for example us21.
  baseUrl: 'https://{{workspace}}.api.mailchimp.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://login.mailchimp.com/oauth2/authorize',
    tokenUrl: 'https://login.mailchimp.com/oauth2/token',
  },
  healthCheck: '/3.0/ping',
  workspaceRequired: true,
  workspaceDisplayName: 'Data center, such as us6',
  limits: { concurrency: 8 },
  api: {
    apiVersion: '3.0',
    docsUrl: 'https://mailchimp.com/developer/marketing/api/',
    checkedAgainst: 'the requests and responses of published connectors',
    notes: [
      'Members are read list by list, and their id is `list:member`. A deletion archives the member.',
      'Campaigns and lists have no modification time, so each read fetches all of them.',
      'Events are not supported: the vendor does not sign its requests.',
    ],
    errors: { messages: ['/errors', '/detail', '/title'] },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: {
        precision: 'format',
        zone: 'utc',
        bounds: 'exclusive',
        column: 'changedAt',
      },
      visibility: 'notDocumented',
      expiredCursor: { never: 'Pages start at an offset.' },
      depthLimit: 'notDocumented',
      fieldsMax: 'none',
      urlBytesMax: 'notDocumented',
      nestedLists: 'notDocumented',
      rateLimits: [{ status: 429, waitMs: 10_000 }],
    },
    objects: {
      lists: declareObject('Audiences', 'lists'),
      campaigns: declareObject('Campaigns', 'campaigns'),
      members: {
        displayName: 'Members',
        id: { parts: { list_id: '/list_id', member: '/id' }, separator: ':' },
        parent: { object: 'lists', variable: 'list_id' },
        changedAt: { at: '/last_changed', format: 'isoOffset' },
        nestedFields: [{ at: '/merge_fields', names: { shape: 'upperCase' } }],
        list: {
          ...declareList(MEMBERS, 'members'),
          query: { sort_field: 'last_changed', sort_dir: 'ASC' },
          since: {
            in: 'query',
            name: 'since_last_changed',
            format: 'isoOffset',
          },
          until: {
            in: 'query',
            name: 'before_last_changed',
            format: 'isoOffset',
          },
          isKeysetPaged: true,
        },
        byIds: { path: `${MEMBERS}/{member}`, records: '' },
        create: { method: 'POST', path: MEMBERS, responseRecord: '' },
        update: { method: 'PATCH', path: `${MEMBERS}/{member}`, responseRecord: '' },
        remove: { path: `${MEMBERS}/{member}` },
        standardFields: {
          email_address: 'STRING',
          full_name: 'STRING',
          status: 'STRING',
          language: 'STRING',
        },
      },
    },
  },
};
