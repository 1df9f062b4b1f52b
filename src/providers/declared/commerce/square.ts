/** Square: a REST API with searches. */
import { MINUTE_MS } from '../../../work/durations.ts';
import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

const CHANGED_AT = { at: '/updated_at', format: 'iso' } as const;
const TIME_FIELDS = { created_at: 'DATETIME', updated_at: 'DATETIME' } as const;

const customers: ObjectDeclarationInput = {
  displayName: 'Customers',
  changedAt: CHANGED_AT,
  list: {
    method: 'POST',
    path: '/v2/customers/search',
    // Sorting by name could move a renamed customer to an earlier page, so that the read misses it.
    body: { query: { sort: { field: 'CREATED_AT', order: 'ASC' } } },
    records: '/customers',
    pageSize: { in: 'body', name: '/limit', max: 100 },
    paging: { kind: 'cursor', parameter: { in: 'body', name: '/cursor' }, next: '/cursor' },
    since: {
      in: 'body',
      name: '/query/filter/updated_at/start_at',
      format: 'iso',
    },
    until: {
      in: 'body',
      name: '/query/filter/updated_at/end_at',
      format: 'iso',
    },
    equalityFilter: {
      in: 'body',
      name: '/query/filter/{field}/exact',
      names: { only: ['email_address', 'phone_number', 'reference_id'] },
      max: 3,
    },
    // A change becomes searchable within about a minute, and later during incidents.
    behavior: { visibility: { settleMs: 10 * MINUTE_MS } },
  },
  byIds: { path: '/v2/customers/{id}', records: '/customer' },
  create: { method: 'POST', path: '/v2/customers', responseRecord: '/customer' },
  update: { method: 'PUT', path: '/v2/customers/{id}', responseRecord: '/customer' },
  remove: { path: '/v2/customers/{id}' },
  standardFields: {
    id: 'STRING',
    given_name: 'STRING',
    family_name: 'STRING',
    nickname: 'STRING',
    company_name: 'STRING',
    email_address: 'STRING',
    phone_number: 'STRING',
    birthday: 'STRING',
    reference_id: 'STRING',
    note: 'STRING',
    version: 'INT',
    ...TIME_FIELDS,
  },
};

/** Groups have no filter by time, so each read lists all of them. */
const groups: ObjectDeclarationInput = {
  displayName: 'Groups of customers',
  aliases: ['customers/groups'],
  changedAt: CHANGED_AT,
  list: {
    path: '/v2/customers/groups',
    records: '/groups',
    pageSize: { in: 'query', name: 'limit', max: 50 },
    paging: { kind: 'cursor', parameter: { in: 'query', name: 'cursor' }, next: '/cursor' },
  },
  byIds: { path: '/v2/customers/groups/{id}', records: '/group' },
  create: {
    method: 'POST',
    path: '/v2/customers/groups',
    bodyRecord: '/group',
    responseRecord: '/group',
  },
  update: {
    method: 'PUT',
    path: '/v2/customers/groups/{id}',
    bodyRecord: '/group',
    responseRecord: '/group',
  },
  remove: { path: '/v2/customers/groups/{id}' },
  standardFields: { id: 'STRING', name: 'STRING', ...TIME_FIELDS },
};

const teamMembers: ObjectDeclarationInput = {
  displayName: 'Team members',
  changedAt: CHANGED_AT,
  list: {
    method: 'POST',
    path: '/v2/team-members/search',
    body: {},
    records: '/team_members',
    pageSize: { in: 'body', name: '/limit', max: 200 },
    paging: { kind: 'cursor', parameter: { in: 'body', name: '/cursor' }, next: '/cursor' },
  },
  byIds: { path: '/v2/team-members/{id}', records: '/team_member' },
  create: {
    method: 'POST',
    path: '/v2/team-members',
    bodyRecord: '/team_member',
    responseRecord: '/team_member',
  },
  update: {
    method: 'PUT',
    path: '/v2/team-members/{id}',
    bodyRecord: '/team_member',
    responseRecord: '/team_member',
  },
  standardFields: {
    id: 'STRING',
    reference_id: 'STRING',
    is_owner: 'BOOLEAN',
    status: 'STRING',
    given_name: 'STRING',
    family_name: 'STRING',
    email_address: 'STRING',
    phone_number: 'STRING',
    ...TIME_FIELDS,
  },
};

const locations: ObjectDeclarationInput = {
  displayName: 'Locations',
  list: { path: '/v2/locations', records: '/locations', paging: { kind: 'none' } },
  byIds: { path: '/v2/locations/{id}', records: '/location' },
  create: {
    method: 'POST',
    path: '/v2/locations',
    bodyRecord: '/location',
    responseRecord: '/location',
  },
  update: {
    method: 'PUT',
    path: '/v2/locations/{id}',
    bodyRecord: '/location',
    responseRecord: '/location',
  },
  standardFields: {
    id: 'STRING',
    name: 'STRING',
    business_name: 'STRING',
    status: 'STRING',
    type: 'STRING',
    country: 'STRING',
    currency: 'STRING',
    timezone: 'STRING',
    phone_number: 'STRING',
    description: 'STRING',
    created_at: 'DATETIME',
  },
};

export const square: DeclaredProvider = {
  name: 'square',
  displayName: 'Square',
  baseUrl: 'https://connect.squareup.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE', 'API_KEY'],
  credentialsDocsUrl: 'https://developer.squareup.com/docs/oauth-api/overview',
  oauth2: {
    authorizeUrl: 'https://connect.squareup.com/oauth2/authorize',
    tokenUrl: 'https://connect.squareup.com/oauth2/token',
    authorizeParams: { session: 'true' },
    explicitScopesRequired: true,
    usesJson: true,
    tokenFields: { consumerRef: 'merchant_id' },
  },
  apiKey: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
  healthCheck: '/v2/merchants/me',
  api: {
    apiVersion: '2025-08-20',
    docsUrl: 'https://developer.squareup.com/reference/square',
    checkedAgainst:
      "the published OpenAPI description of 2025-08-20, and the vendor's guides and forum on searches, paging and errors",
    notes: [
      'Connect by a consent, or with an access token of the account.',
      'The vendor lists only customers with a name, company, email address or phone number. Read others by id.',
      'Idempotency keys are not sent, because the vendor expects them in the body.',
    ],
    headers: { 'Square-Version': '2025-08-20' },
    errors: { messages: ['/errors'] },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: {
        precision: 'format',
        zone: 'utc',
        bounds: 'notDocumented',
        column: 'changedAt',
      },
      visibility: 'notDocumented',
      // Cursors expire after minutes. The vendor's forum reports status 400 without the reason.
      expiredCursor: [{ status: 400 }],
      depthLimit: 'notDocumented',
      fieldsMax: 'none',
      urlBytesMax: 'notDocumented',
      nestedLists: 'notDocumented',
      rateLimits: 'status429',
    },
    objects: { customers, groups, team_members: teamMembers, locations },
  },
};
