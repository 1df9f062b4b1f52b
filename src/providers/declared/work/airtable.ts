/** Airtable: the tables of one base, and a list of their changes. */
import { SECOND_MS } from '../../../work/durations.ts';
import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

const PATH = '/v0/{{base}}/{object}';
/** A formula for the time of change. A record that was never changed has only a creation time. */
const CHANGE_TIME = 'IF(LAST_MODIFIED_TIME(),LAST_MODIFIED_TIME(),CREATED_TIME())';
const WEBHOOKS_PATH = '/v0/bases/{{base}}/webhooks';
const FORMULA_FILTER = {
  in: 'query',
  name: 'filterByFormula',
  format: 'isoSeconds',
} as const;

const table: ObjectDeclarationInput = {
  displayName: 'Records of a table',
  nestedFields: [{ at: '/fields' }],
  list: {
    path: PATH,
    records: '/records',
    pageSize: { in: 'query', name: 'pageSize', max: 100 },
    paging: { kind: 'cursor', parameter: { in: 'query', name: 'offset' }, next: '/offset' },
    since: { ...FORMULA_FILTER, template: `IS_AFTER(${CHANGE_TIME},'{time}')` },
    until: { ...FORMULA_FILTER, template: `IS_BEFORE(${CHANGE_TIME},'{time}')` },
    filterExpression: { separator: ',', template: 'AND({all})' },
    equalityFilter: {
      in: 'query',
      name: 'filterByFormula',
      template: '{{field}}={value}',
      quoting: 'formula',
      names: { shape: 'withoutBraces' },
    },
  },
  byIds: { path: `${PATH}/{id}`, records: '' },
  create: { method: 'POST', path: PATH, bodyRecord: '/fields', responseRecord: '' },
  update: { method: 'PATCH', path: `${PATH}/{id}`, bodyRecord: '/fields', responseRecord: '' },
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
  healthCheck: '/v0/meta/whoami',
  limits: { requestsPerSecond: 5 },
  api: {
    apiVersion: 'v0',
    docsUrl: 'https://airtable.com/developers/web/api/introduction',
    checkedAgainst:
      "the requests and responses of published connectors, the vendor's webhook reference, and its guides on limits and formulas",
    notes: [
      "An object is a table of the base, and its name is the table's id. The vendor omits empty cells.",
      'Each connection has one webhook. The vendor permits two for each app in a base, and requires the creator permission in the base. `rawEvent` has the ids of the changed fields and not their names, so subscriptions report every update, whichever fields they watch.',
      'The vendor keeps changes for a week. After a longer interruption, the changed records are read, and deletions are not reported.',
    ],
    scopes: ['data.records:read', 'data.records:write', 'schema.bases:read', 'webhook:manage'],
    inputs: { base: { displayName: 'Id of the base, such as appXXXXXXXXXXXXXX' } },
    errors: {
      messages: ['/error/message', '/error'],
      rules: [],
    },
    eventList: {
      authentication: {
        kind: 'hmac',
        header: 'X-Airtable-Content-MAC',
        prefix: 'hmac-sha256=',
        algorithm: 'sha256',
        encoding: 'hex',
        keyEncoding: 'base64',
      },
      webhook: {
        path: WEBHOOKS_PATH,
        body: {
          notificationUrl: '{url}',
          specification: { options: { filters: { dataTypes: ['tableData'] } } },
        },
        id: '/id',
        secret: '/macSecretBase64',
        list: {
          records: '/webhooks',
          id: '/id',
          url: '/notificationUrl',
          isActive: '/isHookEnabled',
          isNotifying: '/areNotificationsEnabled',
        },
        renew: { path: `${WEBHOOKS_PATH}/{webhookId}/refresh` },
        resume: {
          path: `${WEBHOOKS_PATH}/{webhookId}/enableNotifications`,
          body: { enable: true },
        },
        remove: { path: `${WEBHOOKS_PATH}/{webhookId}` },
      },
      entries: {
        path: `${WEBHOOKS_PATH}/{webhookId}/payloads`,
        records: '/payloads',
        startParameter: 'cursor',
        size: { name: 'limit', max: 50 },
        next: '/cursor',
        hasMore: '/mightHaveMore',
        time: { at: '/timestamp', format: 'iso' },
        gapMarker: '/error',
        objects: 'changedTablesById',
        changes: {
          createdRecordsById: 'CREATE',
          changedRecordsById: 'UPDATE',
          destroyedRecordIds: 'DELETE',
        },
      },
    },
    behavior: {
      shortPage: 'notDocumented',
      // Records have no time of change. The vendor does not document the precision of the formula's times, and published
      // connectors filter by seconds and minutes. A wider filter repeats records of the time around the window.
      timeFilter: {
        precision: 'minute',
        zone: 'utc',
        bounds: 'exclusive',
        column: 'other',
      },
      visibility: 'notDocumented',
      expiredCursor: [{ status: 422, contains: 'ITERATOR_NOT_AVAILABLE' }],
      depthLimit: 'notDocumented',
      // Requests name no fields.
      fieldsMax: 'none',
      urlBytesMax: 16_000,
      nestedLists: 'notDocumented',
      rateLimits: [{ status: 429, waitMs: 30 * SECOND_MS }],
    },
    objects: {},
    otherObjects: table,
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
