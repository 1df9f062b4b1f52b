/** Pipedrive: version 2 of a REST API, and version 1 for objects that version 2 lacks. */
import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

/** The paging of every list of API version 2. */
const V2_PAGING = {
  kind: 'cursor',
  parameter: { in: 'query', name: 'cursor' },
  next: '/additional_data/next_cursor',
} as const;

/** Declares an object of API version 2, which pages by cursor and filters by time of update. */
function declareObject(
  displayName: string,
  name: string,
  { fieldListName, canFilter = true }: { fieldListName?: string; canFilter?: boolean } = {},
): ObjectDeclarationInput {
  const path = `/api/v2/${name}`;
  return {
    displayName,
    changedAt: { at: '/update_time', format: 'isoSeconds' },
    nestedFields: [{ at: '/custom_fields', names: { shape: 'hash' } }],
    list: {
      path,
      query: { sort_by: 'update_time', sort_direction: canFilter ? 'asc' : 'desc' },
      records: '/data',
      pageSize: { in: 'query', name: 'limit', max: 500 },
      paging: V2_PAGING,
      ...(canFilter
        ? {
            since: { in: 'query', name: 'updated_since', format: 'isoSeconds' },
            until: { in: 'query', name: 'updated_until', format: 'isoSeconds' },
          }
        : { isNewestFirst: true }),
    },
    byIds: { path, ids: { in: 'query', name: 'ids', max: 100 }, records: '/data' },
    create: { method: 'POST', path, responseRecord: '/data' },
    update: { method: 'PATCH', path: `${path}/{id}`, responseRecord: '/data' },
    remove: { path: `${path}/{id}` },
    ...(fieldListName && {
      fieldList: {
        path: `/api/v2/${fieldListName}`,
        query: { limit: '500' },
        paging: V2_PAGING,
        fields: '/data',
        name: '/field_code',
        displayName: '/field_name',
        type: '/field_type',
        isCustom: '/is_custom_field',
        options: { at: '/options', value: '/id', displayValue: '/label' },
        types: {
          varchar: 'STRING',
          varchar_auto: 'STRING',
          text: 'STRING',
          double: 'FLOAT',
          monetary: 'FLOAT',
          int: 'INT',
          date: 'DATE',
          enum: 'SINGLE_SELECT',
          set: 'MULTI_SELECT',
          boolean: 'BOOLEAN',
        },
      },
    }),
  };
}

/** Declares an object of API version 1, which pages by offset and has custom fields next to standard ones. */
function declareV1Object(
  displayName: string,
  name: string,
  { updateMethod, hasMore }: { updateMethod: 'PATCH' | 'PUT'; hasMore: string },
): ObjectDeclarationInput {
  const path = `/v1/${name}`;
  return {
    displayName,
    changedAt: { at: '/update_time', format: 'isoSeconds' },
    list: {
      path,
      query: { sort: 'update_time ASC' },
      records: '/data',
      pageSize: { in: 'query', name: 'limit', max: 500 },
      paging: { kind: 'offset', parameter: { in: 'query', name: 'start' }, hasMore },
      since: { in: 'query', name: 'updated_since', format: 'isoSeconds' },
      isKeysetPaged: true,
    },
    byIds: { path: `${path}/{id}`, records: '/data' },
    create: { method: 'POST', path, responseRecord: '/data' },
    update: { method: updateMethod, path: `${path}/{id}`, responseRecord: '/data' },
    remove: { path: `${path}/{id}` },
  };
}

/** Declares a list of API version 2 without filters by time or ids, whose records have no custom fields. */
function declareUnfilteredObject(displayName: string, name: string): ObjectDeclarationInput {
  const { nestedFields: _, ...object } = declareObject(displayName, name, { canFilter: false });
  return { ...object, byIds: { path: `/api/v2/${name}/{id}`, records: '/data' } };
}

/** Declares the deals that are archived. The vendor lists them apart from other deals, and refuses to change them. */
function declareArchivedDeals(): ObjectDeclarationInput {
  const { displayName, changedAt, nestedFields, list, byIds, fieldList } = declareObject(
    'Archived deals',
    'deals/archived',
    { fieldListName: 'dealFields' },
  );
  return { displayName, changedAt, nestedFields, list, byIds, fieldList };
}

const NOTE_FIELDS = {
  id: 'INT',
  content: 'STRING',
  deal_id: 'INT',
  person_id: 'INT',
  org_id: 'INT',
  lead_id: 'STRING',
  add_time: 'DATETIME',
  update_time: 'DATETIME',
} as const;

const BASE_URL = 'https://api.pipedrive.com';

export const pipedrive: DeclaredProvider = {
  name: 'pipedrive',
  displayName: 'Pipedrive',
  baseUrl: BASE_URL,
  modules: [{ name: 'crm', aliases: ['root'], displayName: 'Pipedrive CRM', baseUrl: BASE_URL }],
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://oauth.pipedrive.com/oauth/authorize',
    tokenUrl: 'https://oauth.pipedrive.com/oauth/token',
    revocation: { method: 'POST', url: 'https://oauth.pipedrive.com/oauth/revoke' },
    clientAuthentication: 'basic',
  },
  healthCheck: '/v1/users/me',
  api: {
    apiVersion: 'v2',
    docsUrl: 'https://developers.pipedrive.com/docs/api/v1',
    checkedAgainst:
      "the published OpenAPI descriptions of v2 (2025-12-10) and v1 (2024-10-22), the vendor's API clients and change log for archived deals, and the vendor's guides on pagination and rate limiting",
    notes: [
      'The objects `deals` and `leads` contain only records that are not archived. If a deal is archived, it moves from `deals` to `archived_deals`, with the same id.',
      'Archived deals can be read, but not written. Archived leads are not read.',
      'Leads have the custom fields of deals.',
    ],
    errors: { messages: ['/error', '/error_info'] },
    events: {
      authentication: { kind: 'basic', username: 'pipedrive' },
      account: { source: 'url' },
      typeParts: ['/meta/entity', '/meta/action'],
      types: {
        'deal.create': { object: 'deals', kind: 'CREATE' },
        'deal.change': { object: 'deals', kind: 'UPDATE' },
        'deal.delete': { object: 'deals', kind: 'DELETE' },
        'person.create': { object: 'persons', kind: 'CREATE' },
        'person.change': { object: 'persons', kind: 'UPDATE' },
        'person.delete': { object: 'persons', kind: 'DELETE' },
        'organization.create': { object: 'organizations', kind: 'CREATE' },
        'organization.change': { object: 'organizations', kind: 'UPDATE' },
        'organization.delete': { object: 'organizations', kind: 'DELETE' },
        'activity.create': { object: 'activities', kind: 'CREATE' },
        'activity.change': { object: 'activities', kind: 'UPDATE' },
        'activity.delete': { object: 'activities', kind: 'DELETE' },
        'product.create': { object: 'products', kind: 'CREATE' },
        'product.change': { object: 'products', kind: 'UPDATE' },
        'product.delete': { object: 'products', kind: 'DELETE' },
      },
      eventIdParts: ['/meta/id'],
      recordId: { parts: ['/meta/entity_id'] },
      time: { at: '/meta/timestamp', format: 'iso' },
      changedFields: '/previous',
      acceptedStatus: 200,
      subscription: {
        path: '/v1/webhooks',
        body: {
          subscription_url: '{url}',
          event_action: '*',
          event_object: '{object}',
          version: '2.0',
          http_auth_user: 'pipedrive',
          http_auth_password: '{secret}',
        },
        id: '/data/id',
        covers: 'object',
        objectNames: {
          deals: 'deal',
          persons: 'person',
          organizations: 'organization',
          activities: 'activity',
          products: 'product',
        },
        remove: { path: '/v1/webhooks/{subscriptionId}' },
      },
    },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: {
        precision: 'format',
        zone: 'utc',
        bounds: 'exclusive',
        column: 'changedAt',
      },
      visibility: 'notDocumented',
      expiredCursor: 'notDocumented',
      depthLimit: 'notDocumented',
      fieldsMax: 'none',
      urlBytesMax: 'notDocumented',
      nestedLists: 'notDocumented',
      rateLimits: 'notDocumented',
    },
    objects: {
      deals: declareObject('Deals', 'deals', { fieldListName: 'dealFields' }),
      archived_deals: declareArchivedDeals(),
      persons: declareObject('People', 'persons', { fieldListName: 'personFields' }),
      organizations: declareObject('Organizations', 'organizations', {
        fieldListName: 'organizationFields',
      }),
      activities: declareObject('Activities', 'activities', { fieldListName: 'activityFields' }),
      products: declareObject('Products', 'products', {
        fieldListName: 'productFields',
        canFilter: false,
      }),
      leads: {
        ...declareV1Object('Leads', 'leads', {
          updateMethod: 'PATCH',
          hasMore: '/additional_data/more_items_in_collection',
        }),
        fieldList: declareObject('Deals', 'deals', { fieldListName: 'dealFields' }).fieldList,
      },
      notes: {
        ...declareV1Object('Notes', 'notes', {
          updateMethod: 'PUT',
          hasMore: '/additional_data/pagination/more_items_in_collection',
        }),
        standardFields: NOTE_FIELDS,
      },
      stages: declareUnfilteredObject('Stages', 'stages'),
      pipelines: declareUnfilteredObject('Pipelines', 'pipelines'),
    },
  },
};
