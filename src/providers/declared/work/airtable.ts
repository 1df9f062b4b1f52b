import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

const PATH = '/v0/{{base}}/{object}';
/** A record that was never changed has no time of change. */
const CHANGED = 'IF(LAST_MODIFIED_TIME(),LAST_MODIFIED_TIME(),CREATED_TIME())';
const FORMULA = { in: 'query', name: 'filterByFormula', format: 'iso', isExclusive: true } as const;

const table: ObjectDeclarationInput = {
  displayName: 'Records of a table',
  nested: [{ at: '/fields' }],
  all: {
    path: PATH,
    records: '/records',
    size: { in: 'query', name: 'pageSize', max: 100 },
    paging: { kind: 'cursor', send: { in: 'query', name: 'offset' }, next: '/offset' },
    since: { ...FORMULA, template: `IS_AFTER(${CHANGED},'{time}')` },
    until: { ...FORMULA, template: `IS_BEFORE(${CHANGED},'{time}')` },
    expression: { join: ',', wrap: 'AND({all})' },
    equals: {
      in: 'query',
      name: 'filterByFormula',
      template: '{{field}}={value}',
      quoting: 'formula',
      names: /^[^{}\\]{1,255}$/,
    },
  },
  byIds: { path: `${PATH}/{id}`, records: '' },
  create: { method: 'POST', path: PATH, wrap: '/fields', record: '' },
  update: { method: 'PATCH', path: `${PATH}/{id}`, wrap: '/fields', record: '' },
  remove: { path: `${PATH}/{id}` },
};

export const airtable: DeclaredProvider = {
  name: 'airtable',
  displayName: 'Airtable',
  baseUrl: 'https://api.airtable.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE_PKCE'],
  oauth2: {
    authorizeUrl: 'https://airtable.com/oauth2/v1/authorize',
    tokenUrl: 'https://airtable.com/oauth2/v1/token',
    explicitScopesRequired: true,
    clientAuthentication: 'basic',
    tokenFields: { scopes: 'scope' },
  },
  limits: { requestsPerSecond: 5 },
  records: {
    apiVersion: 'v0',
    docsUrl: 'https://airtable.com/developers/web/api/introduction',
    checkedAgainst: 'the shapes that published connectors rely on',
    notes: [
      'An object is a table of one base, by its id. Empty cells are left out by the vendor.',
      'Subscribing is left out: a notice says only that something in a base has changed; what it was is a list of its own to go through.',
    ],
    scopes: ['data.records:read', 'data.records:write', 'schema.bases:read'],
    inputs: { base: { displayName: 'Id of the base, like appXXXXXXXXXXXXXX' } },
    errors: {
      messages: ['/error/message', '/error'],
      rules: [{ status: 422, words: 'LIST_RECORDS_ITERATOR_NOT_AVAILABLE', kind: 'CURSOR_GONE' }],
      defaultRetryAfterMs: 30_000,
    },
    objects: {},
    anyObject: table,
    objectList: {
      list: {
        path: '/v0/meta/bases/{{base}}/tables',
        records: '/tables',
        paging: { kind: 'none' },
      },
      name: '/id',
      displayName: '/name',
    },
  },
};
