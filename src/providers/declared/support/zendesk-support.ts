/** Zendesk Support: a REST API with incremental exports. */
import { MINUTE_MS } from '../../../work/durations.ts';
import type { Behavior } from '../../behavior.ts';
import type {
  ObjectDeclarationInput,
  StandardFields,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';
import { declareEventTypes } from './zendesk-events.ts';

/**
 * How exports behave. They are in the order of `generated_timestamp`, which also changes when triggers, merges or redaction
 * change a record and `updated_at` does not. They exclude changes within the last minute.
 */
const EXPORT_BEHAVIOR: Partial<Behavior> = {
  timeFilter: { precision: 'format', zone: 'utc', bounds: 'inclusive', column: 'other' },
  visibility: { settleMs: 2 * MINUTE_MS },
  expiredCursor: { never: 'The vendor recommends storing the cursor until the next export.' },
};

/** Declares an object with an incremental export. */
function declareExportedObject(
  displayName: string,
  { plural, singular, exportSuffix }: { plural: string; singular: string; exportSuffix: string },
): ObjectDeclarationInput {
  const path = `/api/v2/${plural}`;
  return {
    displayName,
    changedAt: { at: '/updated_at', format: 'isoSeconds' },
    nestedFields: [
      singular === 'ticket'
        ? {
            at: '/custom_fields',
            names: { shape: 'digits' },
            entries: { name: '/id', value: '/value', writeFormat: 'list' },
          }
        : { at: `/${singular}_fields` },
    ],
    list: {
      path,
      records: `/${plural}`,
      pageSize: { in: 'query', name: 'page[size]', max: 100 },
      paging: {
        kind: 'cursor',
        parameter: { in: 'query', name: 'page[after]' },
        next: '/meta/after_cursor',
        hasMore: '/meta/has_more',
      },
    },
    // Only the incremental export filters by time of change. It also contains deleted records.
    incrementalList: {
      path: `/api/v2/incremental/${plural}${exportSuffix}`,
      records: `/${plural}`,
      pageSize: { in: 'query', name: 'per_page', max: 1000 },
      paging:
        exportSuffix === ''
          ? { kind: 'nextUrl', next: '/next_page', isLastPage: '/end_of_stream' }
          : {
              kind: 'cursor',
              parameter: { in: 'query', name: 'cursor' },
              next: '/after_cursor',
              isLastPage: '/end_of_stream',
            },
      since: {
        in: 'query',
        name: 'start_time',
        format: 'unixSeconds',
        isRequired: true,
        isFirstPageOnly: true,
        ageMsMin: MINUTE_MS,
      },
      // `list` omits tickets that were archived some months after they were closed.
      ...(singular === 'ticket' && { fullReadQuery: { exclude_deleted: 'true' } }),
      behavior: EXPORT_BEHAVIOR,
    },
    byIds: {
      path: `${path}/show_many`,
      ids: { in: 'query', name: 'ids', max: 100 },
      records: `/${plural}`,
    },
    count: { path: `${path}/count`, at: '/count/value' },
    create: { method: 'POST', path, bodyRecord: `/${singular}`, responseRecord: `/${singular}` },
    update: {
      method: 'PUT',
      path: `${path}/{id}`,
      bodyRecord: `/${singular}`,
      responseRecord: `/${singular}`,
    },
    remove: { path: `${path}/{id}` },
    fieldList: {
      path: `/api/v2/${singular}_fields`,
      // Without a cursor, the vendor pages by offset and returns the URL of the next page.
      paging: { kind: 'nextUrl', next: '/next_page' },
      fields: `/${singular}_fields`,
      name: singular === 'ticket' ? '/id' : '/key',
      displayName: '/title',
      type: '/type',
      isRequired: '/required',
      options: { at: '/custom_field_options', value: '/value', displayValue: '/name' },
      types: {
        text: 'STRING',
        textarea: 'STRING',
        subject: 'STRING',
        description: 'STRING',
        regexp: 'STRING',
        integer: 'INT',
        decimal: 'FLOAT',
        date: 'DATE',
        checkbox: 'BOOLEAN',
        tagger: 'SINGLE_SELECT',
        dropdown: 'SINGLE_SELECT',
        multiselect: 'MULTI_SELECT',
      },
    },
  };
}

/** Declares an object without an incremental export. Each read lists all records and drops unchanged ones. */
function declareListedObject(
  displayName: string,
  { plural, singular }: { plural: string; singular: string },
  {
    isPaged = true,
    canCreate = true,
    canUpdate = true,
    canDelete = true,
    standardFields,
  }: {
    isPaged?: boolean;
    canCreate?: boolean;
    canUpdate?: boolean;
    canDelete?: boolean;
    standardFields: StandardFields;
  },
): ObjectDeclarationInput {
  const path = `/api/v2/${plural}`;
  const recordLocations = { bodyRecord: `/${singular}`, responseRecord: `/${singular}` };
  return {
    displayName,
    changedAt: { at: '/updated_at', format: 'isoSeconds' },
    list: {
      path,
      records: `/${plural}`,
      ...(isPaged && { pageSize: { in: 'query', name: 'page[size]', max: 100 } }),
      paging: isPaged
        ? {
            kind: 'cursor',
            parameter: { in: 'query', name: 'page[after]' },
            next: '/meta/after_cursor',
            hasMore: '/meta/has_more',
          }
        : { kind: 'none' },
    },
    byIds: { path: `${path}/{id}`, records: `/${singular}` },
    ...(canCreate && { create: { method: 'POST', path, ...recordLocations } }),
    ...(canUpdate && { update: { method: 'PUT', path: `${path}/{id}`, ...recordLocations } }),
    ...(canDelete && { remove: { path: `${path}/{id}` } }),
    standardFields: {
      id: 'INT',
      created_at: 'DATETIME',
      updated_at: 'DATETIME',
      ...standardFields,
    },
  };
}

const READ_ONLY = { canCreate: false, canUpdate: false, canDelete: false };

export const zendeskSupport: DeclaredProvider = {
  name: 'zendeskSupport',
  displayName: 'Zendesk Support',
  baseUrl: 'https://{{workspace}}.zendesk.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE', 'OAUTH2_AUTHORIZATION_CODE_PKCE'],
  oauth2: {
    authorizeUrl: 'https://{{workspace}}.zendesk.com/oauth/authorizations/new',
    tokenUrl: 'https://{{workspace}}.zendesk.com/oauth/tokens',
    explicitScopesRequired: true,
    tokenFields: { scopes: 'scope' },
  },
  healthCheck: '/api/v2/users/me',
  workspaceRequired: true,
  workspaceDisplayName: 'Subdomain',
  api: {
    apiVersion: 'v2',
    docsUrl: 'https://developer.zendesk.com/api-reference/',
    checkedAgainst:
      "the vendor's published OpenAPI description (2024-08-26), and its guides on exports, paging, rate limits, webhooks and event types",
    errors: { messages: ['/details', '/description', '/error/message', '/error'] },
    notes: [
      'Full reads of tickets use the export, because only the export has archived tickets. The vendor permits ten export requests per minute.',
      'A read by time also returns tickets that only the system changed, although their `updated_at` is before the window.',
      'A soft deletion of a user is reported as an update of `active`, and a permanent deletion as a deletion.',
    ],
    events: {
      authentication: {
        kind: 'hmac',
        header: 'X-Zendesk-Webhook-Signature',
        algorithm: 'sha256',
        encoding: 'base64',
        signedPayload: '{timestamp}{body}',
        timestamp: {
          at: { header: 'X-Zendesk-Webhook-Signature-Timestamp' },
          unit: 'iso',
          toleranceMs: 300_000,
        },
      },
      account: { source: 'subscription' },
      typeParts: ['/type'],
      types: {
        ...declareEventTypes('tickets', {
          singular: 'ticket',
          deleteActions: ['soft_deleted', 'permanently_deleted'],
        }),
        ...declareEventTypes('users', { singular: 'user', deleteActions: ['deleted'] }),
        ...declareEventTypes('organizations', {
          singular: 'organization',
          deleteActions: ['deleted'],
        }),
      },
      eventIdParts: ['/id'],
      recordId: { parts: ['/detail/id'] },
      time: { at: '/time', format: 'iso' },
      acceptedStatus: 200,
      subscription: {
        path: '/api/v2/webhooks',
        body: {
          webhook: {
            name: 'Integration gateway',
            status: 'active',
            endpoint: '{url}',
            http_method: 'POST',
            request_format: 'json',
          },
        },
        types: { at: '/webhook/subscriptions', item: '{type}' },
        id: '/webhook/id',
        secret: {
          path: '/api/v2/webhooks/{subscriptionId}/signing_secret',
          at: '/signing_secret/secret',
        },
        covers: 'object',
        checkPath: '/api/v2/webhooks/{subscriptionId}',
        remove: { path: '/api/v2/webhooks/{subscriptionId}' },
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
      expiredCursor: 'notDocumented',
      // Only offsets are limited, to 100 pages.
      depthLimit: 'none',
      fieldsMax: 'none',
      urlBytesMax: 'notDocumented',
      nestedLists: 'notDocumented',
      rateLimits: 'status429',
    },
    objects: {
      tickets: declareExportedObject('Tickets', {
        plural: 'tickets',
        singular: 'ticket',
        exportSuffix: '/cursor',
      }),
      users: declareExportedObject('Users', {
        plural: 'users',
        singular: 'user',
        exportSuffix: '/cursor',
      }),
      organizations: declareExportedObject('Organizations', {
        plural: 'organizations',
        singular: 'organization',
        exportSuffix: '',
      }),
      brands: declareListedObject(
        'Brands',
        { plural: 'brands', singular: 'brand' },
        {
          standardFields: {
            name: 'STRING',
            subdomain: 'STRING',
            active: 'BOOLEAN',
            default: 'BOOLEAN',
          },
        },
      ),
      groups: declareListedObject(
        'Groups',
        { plural: 'groups', singular: 'group' },
        { standardFields: { name: 'STRING', description: 'STRING', is_public: 'BOOLEAN' } },
      ),
      group_memberships: declareListedObject(
        'Group memberships',
        { plural: 'group_memberships', singular: 'group_membership' },
        {
          canUpdate: false,
          standardFields: { group_id: 'INT', user_id: 'INT', default: 'BOOLEAN', url: 'STRING' },
        },
      ),
      organization_memberships: declareListedObject(
        'Organization memberships',
        { plural: 'organization_memberships', singular: 'organization_membership' },
        {
          canUpdate: false,
          standardFields: {
            organization_id: 'INT',
            organization_name: 'STRING',
            user_id: 'INT',
            default: 'BOOLEAN',
          },
        },
      ),
      macros: declareListedObject(
        'Macros',
        { plural: 'macros', singular: 'macro' },
        { standardFields: { title: 'STRING', description: 'STRING', active: 'BOOLEAN' } },
      ),
      views: declareListedObject(
        'Views',
        { plural: 'views', singular: 'view' },
        { standardFields: { title: 'STRING', description: 'STRING', active: 'BOOLEAN' } },
      ),
      ticket_fields: declareListedObject(
        'Ticket fields',
        { plural: 'ticket_fields', singular: 'ticket_field' },
        {
          standardFields: {
            title: 'STRING',
            type: 'STRING',
            active: 'BOOLEAN',
            required: 'BOOLEAN',
          },
        },
      ),
      ticket_forms: declareListedObject(
        'Ticket forms',
        { plural: 'ticket_forms', singular: 'ticket_form' },
        {
          isPaged: false,
          standardFields: { name: 'STRING', display_name: 'STRING', active: 'BOOLEAN' },
        },
      ),
      ticket_metrics: declareListedObject(
        'Ticket metrics',
        { plural: 'ticket_metrics', singular: 'ticket_metric' },
        {
          ...READ_ONLY,
          standardFields: {
            ticket_id: 'INT',
            solved_at: 'DATETIME',
            reopens: 'INT',
            url: 'STRING',
          },
        },
      ),
      satisfaction_ratings: declareListedObject(
        'Satisfaction ratings',
        { plural: 'satisfaction_ratings', singular: 'satisfaction_rating' },
        { ...READ_ONLY, standardFields: { ticket_id: 'INT', score: 'STRING', comment: 'STRING' } },
      ),
    },
  },
};
