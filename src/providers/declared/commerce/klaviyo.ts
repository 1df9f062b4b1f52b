import type {
  ObjectDeclarationInput,
  StandardFields,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

const FILTER = { in: 'query', name: 'filter', format: 'iso', isExclusive: true } as const;

/** Declares a JSON:API object. The vendor's filters are exclusive. */
function declareObject(
  displayName: string,
  {
    name,
    type,
    size,
    changed = 'updated',
    isFiltered = changed !== null,
    required,
    writes = ALL_WRITES,
  }: Options,
  standardFields: StandardFields,
): ObjectDeclarationInput {
  const path = `/api/${name}`;
  const body = { data: { type } };
  return {
    displayName,
    ...(changed && { changedAt: { at: `/attributes/${changed}`, format: 'iso' } }),
    nested: [
      { at: '/attributes' },
      { at: '/attributes/properties' },
      { at: '/attributes/event_properties' },
    ],
    all: {
      path,
      query: {
        ...(isFiltered && { sort: String(changed) }),
        ...(required && { filter: required }),
      },
      records: '/data',
      ...(size && { size: { in: 'query', name: 'page[size]', max: size } }),
      paging: { kind: 'nextUrl', next: '/links/next' },
      ...(isFiltered && {
        since: {
          ...FILTER,
          template: [required, `greater-than(${changed},{time})`].filter(Boolean).join(','),
        },
      }),
    },
    byIds: { path: `${path}/{id}`, records: '/data' },
    ...(writes.create && {
      create: {
        method: 'POST',
        path,
        wrap: '/data/attributes',
        body,
        ...(writes.create === 'named' ? { record: '/data' } : { isUnnamed: true }),
      },
    }),
    ...(writes.update && {
      update: {
        method: 'PATCH',
        path: `${path}/{id}`,
        wrap: '/data/attributes',
        body,
        id: '/data/id',
        ...(writes.update === 'answered' && { record: '/data' }),
      },
    }),
    ...(writes.remove && { remove: { path: `${path}/{id}` } }),
    standardFields: {
      ...(changed === 'updated' && { created: 'DATETIME', updated: 'DATETIME' }),
      ...standardFields,
    },
  };
}

interface Options {
  name: string;
  type: string;
  /** The maximum page size. Null if the vendor decides. */
  size: number | null;
  /** The attribute with the time of change. Null if there is none. */
  changed?: 'updated' | 'updated_at' | 'datetime' | null;
  /** True if the vendor sorts and filters by that attribute. */
  isFiltered?: boolean;
  /** A condition that each list request must have. */
  required?: string;
  writes?: Writes;
}

interface Writes {
  /** `unnamed` if the response lacks the id of the created record. */
  create?: 'named' | 'unnamed';
  /** `silent` if the response has no record. */
  update?: 'answered' | 'silent';
  remove?: true;
}

const ALL_WRITES: Writes = { create: 'named', update: 'answered', remove: true };
const TAG_WRITES: Writes = { ...ALL_WRITES, update: 'silent' };

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
  records: {
    apiVersion: '2026-07-15',
    docsUrl: 'https://developers.klaviyo.com/en/reference/api_overview',
    checkedAgainst: "the vendor's published OpenAPI description (2026-07-15)",
    notes: [
      'Profiles can be deleted only by a privacy request, which can be sent through the proxy.',
      'Campaigns are those that go by email: the vendor lists one channel at a time.',
      'Events are read by the time at which they happened: one that is sent with an earlier time than the last read is not reached.',
      'Subscribing is not supported: the vendor reports what people do, and not that profiles or lists are created, changed or deleted.',
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
    objects: {
      profiles: declareObject(
        'Profiles',
        {
          name: 'profiles',
          type: 'profile',
          size: 100,
          writes: { create: 'named', update: 'answered' },
        },
        { email: 'STRING', phone_number: 'STRING', first_name: 'STRING', last_name: 'STRING' },
      ),
      lists: declareObject('Lists', { name: 'lists', type: 'list', size: 10 }, { name: 'STRING' }),
      segments: declareObject(
        'Segments',
        { name: 'segments', type: 'segment', size: 10 },
        { name: 'STRING' },
      ),
      events: declareObject(
        'Events',
        {
          name: 'events',
          type: 'event',
          size: 1000,
          changed: 'datetime',
          writes: { create: 'unnamed' },
        },
        { datetime: 'DATETIME', timestamp: 'INT', uuid: 'STRING' },
      ),
      metrics: declareObject(
        'Metrics',
        { name: 'metrics', type: 'metric', size: null, isFiltered: false, writes: {} },
        { name: 'STRING' },
      ),
      campaigns: declareObject(
        'Campaigns',
        {
          name: 'campaigns',
          type: 'campaign',
          size: 100,
          changed: 'updated_at',
          required: "equals(messages.channel,'email')",
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
        { name: 'flows', type: 'flow', size: 50 },
        { name: 'STRING', status: 'STRING', archived: 'BOOLEAN', trigger_type: 'STRING' },
      ),
      templates: declareObject(
        'Templates',
        { name: 'templates', type: 'template', size: 10 },
        { name: 'STRING' },
      ),
      'catalog-items': declareObject(
        'Catalog items',
        { name: 'catalog-items', type: 'catalog-item', size: 100, isFiltered: false },
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
        { name: 'coupons', type: 'coupon', size: 100, changed: null },
        { external_id: 'STRING', description: 'STRING' },
      ),
      tags: declareObject(
        'Tags',
        { name: 'tags', type: 'tag', size: 50, changed: null, writes: TAG_WRITES },
        { name: 'STRING' },
      ),
    },
  },
};
