/** Klaviyo: a JSON:API. */
import { HOUR_MS } from '../../../work/durations.ts';
import type { Behavior } from '../../behavior.ts';
import type {
  ObjectDeclarationInput,
  StandardFields,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

/** The vendor's filters are exclusive, and its times have whole seconds. */
const TIME_FILTER = { in: 'query', name: 'filter', format: 'isoSeconds' } as const;
/** Published connectors measured that events appear up to 110 minutes late, and in rare cases after days. */
const EVENTS_LOOK_BACK_MS = 2 * HOUR_MS;

/** The writes that the vendor permits, and what their responses contain. */
interface Writes {
  create?: 'returnsId' | 'returnsNoId';
  update?: 'returnsRecord' | 'returnsNothing';
  remove?: true;
}

const ALL_WRITES: Writes = { create: 'returnsId', update: 'returnsRecord', remove: true };
const TAG_WRITES: Writes = { ...ALL_WRITES, update: 'returnsNothing' };

interface ObjectOptions {
  /** The name of the list in paths. */
  name: string;
  /** The JSON:API type of a record. */
  type: string;
  /** The maximum page size. Null if the vendor decides. */
  pageSizeMax: number | null;
  /** The attribute that holds the time of change. Null if there is none. */
  timeField?: 'updated' | 'updated_at' | 'datetime' | null;
  /** True if the vendor sorts and filters by `timeField`. */
  isFiltered?: boolean;
  /** A condition that each list request must have. */
  requiredFilter?: string;
  /** Other members of each list request. */
  query?: Record<string, string>;
  behavior?: Partial<Behavior>;
  writes?: Writes;
}

/** Declares a JSON:API object. */
function declareObject(
  displayName: string,
  {
    name,
    type,
    pageSizeMax,
    timeField = 'updated',
    isFiltered = timeField !== null,
    requiredFilter,
    query,
    behavior,
    writes = ALL_WRITES,
  }: ObjectOptions,
  standardFields: StandardFields,
): ObjectDeclarationInput {
  const path = `/api/${name}`;
  const body = { data: { type } };
  return {
    displayName,
    ...(timeField && { changedAt: { at: `/attributes/${timeField}`, format: 'iso' } }),
    nestedFields: [
      { at: '/attributes' },
      { at: '/attributes/properties' },
      { at: '/attributes/event_properties' },
    ],
    list: {
      path,
      query: {
        ...(isFiltered && { sort: String(timeField) }),
        ...(requiredFilter && { filter: requiredFilter }),
        ...query,
      },
      records: '/data',
      ...(pageSizeMax && { pageSize: { in: 'query', name: 'page[size]', max: pageSizeMax } }),
      paging: { kind: 'nextUrl', next: '/links/next' },
      ...(behavior && { behavior }),
      ...(isFiltered && {
        since: {
          ...TIME_FILTER,
          template: [requiredFilter, `greater-than(${timeField},{time})`].filter(Boolean).join(','),
        },
      }),
    },
    byIds: { path: `${path}/{id}`, ...(query && { query }), records: '/data' },
    ...(writes.create && {
      create: {
        method: 'POST',
        path,
        bodyRecord: '/data/attributes',
        body,
        ...(writes.create === 'returnsId' ? { responseRecord: '/data' } : { returnsNoId: true }),
      },
    }),
    ...(writes.update && {
      update: {
        method: 'PATCH',
        path: `${path}/{id}`,
        bodyRecord: '/data/attributes',
        body,
        bodyId: '/data/id',
        ...(writes.update === 'returnsRecord' && { responseRecord: '/data' }),
      },
    }),
    ...(writes.remove && { remove: { path: `${path}/{id}` } }),
    standardFields: {
      ...(timeField === 'updated' && { created: 'DATETIME', updated: 'DATETIME' }),
      ...standardFields,
    },
  };
}

export const klaviyo: DeclaredProvider = {
  name: 'klaviyo',
  displayName: 'Klaviyo',
  baseUrl: 'https://a.klaviyo.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE_PKCE'],
  oauth2: {
    authorizeUrl: 'https://www.klaviyo.com/oauth/authorize',
    tokenUrl: 'https://a.klaviyo.com/oauth/token',
    explicitScopesRequired: true,
    clientAuthentication: 'basic',
    tokenFields: { scopes: 'scope' },
  },
  healthCheck: '/api/accounts',
  api: {
    apiVersion: '2026-07-15',
    docsUrl: 'https://developers.klaviyo.com/en/reference/api_overview',
    checkedAgainst:
      "the vendor's published OpenAPI description (2026-07-15), its guide on filters, and issues of published connectors",
    notes: [
      'Only a privacy request deletes a profile. Send it through the proxy.',
      'Only email campaigns are read, because the vendor lists one channel at a time.',
      'Events are read by the time at which they happened. A read misses events that arrive more than 2 hours late.',
      'The vendor returns `predictive_analytics` of profiles only through the proxy.',
      'Change events are not supported: the vendor reports what people do, not that profiles or lists were created, updated or deleted.',
    ],
    scopes: [
      'profiles:read',
      'profiles:write',
      'lists:read',
      'lists:write',
      'segments:read',
      'segments:write',
      'events:read',
      'events:write',
      'metrics:read',
      'campaigns:read',
      'campaigns:write',
      'flows:read',
      'flows:write',
      'templates:read',
      'templates:write',
      'catalogs:read',
      'catalogs:write',
      'coupons:read',
      'coupons:write',
      'tags:read',
      'tags:write',
    ],
    headers: {
      revision: '2026-07-15',
      accept: 'application/vnd.api+json',
      'content-type': 'application/vnd.api+json',
    },
    errors: { messages: ['/errors'] },
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
      rateLimits: 'status429',
    },
    objects: {
      profiles: declareObject(
        'Profiles',
        {
          name: 'profiles',
          type: 'profile',
          pageSizeMax: 100,
          // Without this parameter, the vendor omits the subscriptions.
          query: { 'additional-fields[profile]': 'subscriptions' },
          writes: { create: 'returnsId', update: 'returnsRecord' },
        },
        { email: 'STRING', phone_number: 'STRING', first_name: 'STRING', last_name: 'STRING' },
      ),
      lists: declareObject(
        'Lists',
        { name: 'lists', type: 'list', pageSizeMax: 10 },
        { name: 'STRING' },
      ),
      segments: declareObject(
        'Segments',
        { name: 'segments', type: 'segment', pageSizeMax: 10 },
        { name: 'STRING' },
      ),
      events: declareObject(
        'Events',
        {
          name: 'events',
          type: 'event',
          pageSizeMax: 1000,
          timeField: 'datetime',
          behavior: { visibility: { lookBackMs: EVENTS_LOOK_BACK_MS } },
          writes: { create: 'returnsNoId' },
        },
        { datetime: 'DATETIME', timestamp: 'INT', uuid: 'STRING' },
      ),
      metrics: declareObject(
        'Metrics',
        { name: 'metrics', type: 'metric', pageSizeMax: null, isFiltered: false, writes: {} },
        { name: 'STRING' },
      ),
      campaigns: declareObject(
        'Campaigns',
        {
          name: 'campaigns',
          type: 'campaign',
          pageSizeMax: 100,
          timeField: 'updated_at',
          requiredFilter: "equals(messages.channel,'email')",
        },
        {
          name: 'STRING',
          status: 'STRING',
          archived: 'BOOLEAN',
          created_at: 'DATETIME',
          updated_at: 'DATETIME',
          scheduled_at: 'DATETIME',
          send_time: 'DATETIME',
        },
      ),
      flows: declareObject(
        'Flows',
        { name: 'flows', type: 'flow', pageSizeMax: 50 },
        { name: 'STRING', status: 'STRING', archived: 'BOOLEAN', trigger_type: 'STRING' },
      ),
      templates: declareObject(
        'Templates',
        { name: 'templates', type: 'template', pageSizeMax: 10 },
        { name: 'STRING' },
      ),
      'catalog-items': declareObject(
        'Catalog items',
        { name: 'catalog-items', type: 'catalog-item', pageSizeMax: 100, isFiltered: false },
        {
          external_id: 'STRING',
          title: 'STRING',
          description: 'STRING',
          url: 'STRING',
          price: 'FLOAT',
          published: 'BOOLEAN',
        },
      ),
      coupons: declareObject(
        'Coupons',
        { name: 'coupons', type: 'coupon', pageSizeMax: 100, timeField: null },
        { external_id: 'STRING', description: 'STRING' },
      ),
      tags: declareObject(
        'Tags',
        { name: 'tags', type: 'tag', pageSizeMax: 50, timeField: null, writes: TAG_WRITES },
        { name: 'STRING' },
      ),
    },
  },
};
