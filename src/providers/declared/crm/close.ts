/** Close: a REST API with offsets. */
import { DAY_MS } from '../../../work/durations.ts';
import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

const FIELD_TYPES = {
  text: 'STRING',
  textarea: 'STRING',
  url: 'STRING',
  number: 'FLOAT',
  date: 'DATE',
  datetime: 'DATETIME',
  choices: 'SINGLE_SELECT',
  dropdown: 'SINGLE_SELECT',
  hidden: 'STRING',
  contact: 'REFERENCE',
  user: 'REFERENCE',
} as const;

interface ObjectOptions {
  isReadOnly?: boolean;
  /** True if the vendor sorts the list by time of change. */
  isSorted?: boolean;
  hasCustomFields?: boolean;
  standardFields?: ObjectDeclarationInput['standardFields'];
}

function declareObject(
  displayName: string,
  name: string,
  {
    isReadOnly = false,
    isSorted = false,
    hasCustomFields = false,
    standardFields = {},
  }: ObjectOptions = {},
): ObjectDeclarationInput {
  const path = `/api/v1/${name}/`;
  return {
    displayName,
    changedAt: { at: '/date_updated', format: 'iso' },
    list: {
      path,
      ...(isSorted && { query: { _order_by: 'date_updated' } }),
      records: '/data',
      pageSize: { in: 'query', name: '_limit', max: 100 },
      paging: { kind: 'offset', parameter: { in: 'query', name: '_skip' }, hasMore: '/has_more' },
      total: '/total_results',
      // The vendor's list of users, the only read-only object, has no date filters.
      ...(!isReadOnly && {
        since: { in: 'query', name: 'date_updated__gte', format: 'iso' },
        // A wider upper bound keeps a record that changes during the read in the list, so that no page shifts.
        until: { in: 'query', name: 'date_updated__lte', format: 'iso', marginMs: DAY_MS },
      }),
      isKeysetPaged: isSorted,
    },
    byIds: { path: `${path}{id}/`, records: '' },
    ...(!isReadOnly && {
      create: { method: 'POST', path, responseRecord: '' },
      update: { method: 'PUT', path: `${path}{id}/`, responseRecord: '' },
      remove: { path: `${path}{id}/` },
    }),
    standardFields: {
      id: 'STRING',
      date_created: 'DATETIME',
      date_updated: 'DATETIME',
      ...standardFields,
    },
    ...(hasCustomFields && {
      fieldList: {
        path: `/api/v1/custom_field/${name}/`,
        query: { _limit: '100' },
        paging: { kind: 'offset', parameter: { in: 'query', name: '_skip' }, hasMore: '/has_more' },
        fields: '/data',
        name: '/id',
        prefix: 'custom.',
        displayName: '/name',
        type: '/type',
        types: FIELD_TYPES,
      },
    }),
  };
}

export const close: DeclaredProvider = {
  name: 'close',
  displayName: 'Close',
  baseUrl: 'https://api.close.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://app.close.com/oauth2/authorize',
    tokenUrl: 'https://api.close.com/oauth2/token',
    explicitScopesRequired: true,
    refreshTokenScopes: ['offline_access'],
    tokenFields: { consumerRef: 'user_id', scopes: 'scope', workspaceRef: 'organization_id' },
  },
  healthCheck: '/api/v1/me',
  api: {
    apiVersion: 'v1',
    docsUrl: 'https://developer.close.com',
    checkedAgainst:
      "the vendor's guides on paging, leads, events and webhooks, its client library, and published connectors",
    notes: [
      'The vendor refuses large offsets, and does not document how large. A read that exceeds them fails. Read large accounts in several time windows.',
      'If a lead, contact or task changes during a read whose time window ended more than a day ago, the read can miss another record.',
    ],
    scopes: ['all.full_access', 'offline_access'],
    errors: { messages: ['/field-errors', '/errors', '/error'] },
    events: {
      authentication: {
        kind: 'hmac',
        header: 'close-sig-hash',
        algorithm: 'sha256',
        encoding: 'hex',
        keyEncoding: 'hex',
        signedPayload: '{timestamp}{body}',
        timestamp: {
          at: { header: 'close-sig-timestamp' },
          unit: 'seconds',
          toleranceMs: 300_000,
        },
      },
      account: { source: 'subscription' },
      typeParts: ['/event/object_type', '/event/action'],
      types: {
        'lead.created': { object: 'lead', kind: 'CREATE' },
        'lead.updated': { object: 'lead', kind: 'UPDATE' },
        'lead.deleted': { object: 'lead', kind: 'DELETE' },
        'contact.created': { object: 'contact', kind: 'CREATE' },
        'contact.updated': { object: 'contact', kind: 'UPDATE' },
        'contact.deleted': { object: 'contact', kind: 'DELETE' },
        'opportunity.created': { object: 'opportunity', kind: 'CREATE' },
        'opportunity.updated': { object: 'opportunity', kind: 'UPDATE' },
        'opportunity.deleted': { object: 'opportunity', kind: 'DELETE' },
      },
      // The vendor merges quick successive changes into the previous event, which keeps its id and gets a later time.
      eventIdParts: ['/event/id', '/event/date_updated'],
      recordId: { parts: ['/event/object_id'] },
      time: { at: '/event/date_updated', format: 'iso' },
      changedFields: '/event/changed_fields',
      acceptedStatus: 200,
      subscription: {
        path: '/api/v1/webhook/',
        body: { url: '{url}' },
        types: { at: '/events', item: { object_type: '{subject}', action: '{action}' } },
        id: '/id',
        secret: { at: '/signature_key' },
        covers: 'object',
        checkPath: '/api/v1/webhook/{subscriptionId}/',
        remove: { path: '/api/v1/webhook/{subscriptionId}/' },
      },
    },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: {
        precision: 'format',
        zone: 'utc',
        bounds: 'inclusive',
        column: 'changedAt',
      },
      visibility: 'notDocumented',
      expiredCursor: { never: 'Pages are requested by their offset.' },
      // The vendor documents that a limit exists, but not its size, which differs between lists.
      depthLimit: 'notDocumented',
      fieldsMax: 'none',
      urlBytesMax: 'notDocumented',
      nestedLists: 'notDocumented',
      rateLimits: 'status429',
    },
    objects: {
      lead: declareObject('Leads', 'lead', {
        hasCustomFields: true,
        standardFields: { name: 'STRING', description: 'STRING' },
      }),
      contact: declareObject('Contacts', 'contact', {
        hasCustomFields: true,
        standardFields: { name: 'STRING', title: 'STRING' },
      }),
      opportunity: declareObject('Opportunities', 'opportunity', {
        isSorted: true,
        hasCustomFields: true,
        standardFields: { note: 'STRING', value: 'INT' },
      }),
      task: declareObject('Tasks', 'task', {
        standardFields: { text: 'STRING', is_complete: 'BOOLEAN' },
      }),
      user: declareObject('Users', 'user', {
        isReadOnly: true,
        standardFields: { first_name: 'STRING', email: 'STRING' },
      }),
    },
  },
};
