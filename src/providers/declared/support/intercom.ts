/** Intercom: a REST API with searches for contacts, conversations and tickets. */
import { MINUTE_MS } from '../../../work/durations.ts';
import type { Behavior, RateLimitMatch } from '../../behavior.ts';
import type {
  ListInput,
  ObjectDeclarationInput,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

type Lists = Pick<ObjectDeclarationInput, 'list' | 'incrementalList' | 'deepList'>;

const NEXT_CURSOR = '/pages/next/starting_after';
const CHANGED_AT = { at: '/updated_at', format: 'unixSeconds' } as const;

/** The lists inside a contact. */
const CONTACT_LISTS: Behavior['nestedLists'] = [
  'tags',
  'notes',
  'companies',
  'opted_out_subscription_types',
  'opted_in_subscription_types',
].map((name) => ({ at: `/${name}/data`, itemsMax: 10, otherItems: 'missing' }));

/** The responses while another scroll of the workspace is open. It closes after a minute without a request. */
const SCROLL_EXISTS: RateLimitMatch[] = ['scroll_exists', 'scroll already exists'].map(
  (contains) => ({ status: 400, contains, waitMs: MINUTE_MS }),
);

/** Declares a time bound of a search. */
function declareTimeFilter(operator: '>' | '<') {
  return {
    in: 'body',
    name: '/query/value/-',
    format: 'unixSeconds',
    template: { field: 'updated_at', operator, value: '{time}' },
  } as const;
}

function declareSearchList(
  name: string,
  records: string,
): NonNullable<ObjectDeclarationInput['incrementalList']> {
  return {
    method: 'POST',
    path: `/${name}/search`,
    body: { query: { operator: 'AND', value: [] } },
    records,
    pageSize: { in: 'body', name: '/pagination/per_page', max: 150 },
    paging: {
      kind: 'cursor',
      parameter: { in: 'body', name: '/pagination/starting_after' },
      next: NEXT_CURSOR,
    },
    since: { ...declareTimeFilter('>'), isRequired: true },
    until: declareTimeFilter('<'),
    equalityFilter: {
      in: 'body',
      name: '/query/value/-',
      template: { field: '{field}', operator: '=', value: '{value}' },
      max: 10,
    },
    total: '/total_count',
  };
}

function declarePagedList(name: string, records: string): ListInput {
  return {
    path: `/${name}`,
    records,
    pageSize: { in: 'query', name: 'per_page', max: 150 },
    paging: {
      kind: 'cursor',
      parameter: { in: 'query', name: 'starting_after' },
      next: NEXT_CURSOR,
    },
    total: '/total_count',
  };
}

/** Declares a list with numbered pages. */
function declareNumberedList(path: string): ListInput {
  return {
    behavior: { expiredCursor: { never: 'Pages are numbered.' } },
    path,
    records: '/data',
    pageSize: { in: 'query', name: 'per_page', max: 150 },
    paging: {
      kind: 'page',
      parameter: { in: 'query', name: 'page' },
      pageCount: '/pages/total_pages',
    },
    total: '/total_count',
  };
}

/**
 * The list of contacts that changed. The vendor documents that it compares days, and that a contact may appear minutes
 * late. The list begins with the newest change, so that a read stops at the beginning of its window.
 */
function declareContactSearch(): NonNullable<ObjectDeclarationInput['incrementalList']> {
  const search = declareSearchList('contacts', '/data');
  return {
    ...search,
    body: { ...search.body, sort: { field: 'updated_at', order: 'descending' } },
    isNewestFirst: true,
    behavior: {
      timeFilter: { precision: 'day', zone: 'utc', bounds: 'exclusive', column: 'changedAt' },
      visibility: { settleMs: 10 * MINUTE_MS },
      nestedLists: CONTACT_LISTS,
    },
  };
}

/**
 * The list of all companies by scroll. It continues `list`, which the vendor ends after 10,000 companies. A workspace has
 * one scroll at a time, and the vendor forgets it after a minute without a request.
 */
const COMPANY_SCROLL: ListInput = {
  path: '/companies/scroll',
  records: '/data',
  paging: {
    kind: 'cursor',
    parameter: { in: 'query', name: 'scroll_param' },
    next: '/scroll_param',
    isScroll: true,
  },
  behavior: { expiredCursor: [{ status: 404 }, { status: 400 }] },
};

/** Declares a list without pages. */
function declareUnpagedList(path: string, records: string): ListInput {
  return { path, records, paging: { kind: 'none' } };
}

/** Declares the writes of records below a path. */
function declareWrites(path: string): Pick<ObjectDeclarationInput, 'create' | 'update' | 'remove'> {
  return {
    create: { method: 'POST', path, responseRecord: '' },
    update: { method: 'PUT', path: `${path}/{id}`, responseRecord: '' },
    remove: { path: `${path}/{id}` },
  };
}

function declareObject(
  displayName: string,
  name: string,
  {
    fieldModel,
    createdIdLocation,
    ...lists
  }: Lists & { fieldModel?: string; createdIdLocation?: string },
): ObjectDeclarationInput {
  return {
    displayName,
    changedAt: CHANGED_AT,
    nestedFields: [{ at: '/custom_attributes' }],
    ...lists,
    byIds: { path: `/${name}/{id}`, records: '' },
    create: {
      method: 'POST',
      path: `/${name}`,
      responseRecord: '',
      ...(createdIdLocation && { responseRecordId: createdIdLocation }),
    },
    update: { method: 'PUT', path: `/${name}/{id}`, responseRecord: '' },
    remove: { path: `/${name}/{id}` },
    ...(fieldModel && {
      fieldList: {
        path: '/data_attributes',
        query: { model: fieldModel },
        fields: '/data',
        name: '/name',
        displayName: '/label',
        type: '/data_type',
        isCustom: '/custom',
        isWritable: '/api_writable',
        types: {
          string: 'STRING',
          integer: 'INT',
          float: 'FLOAT',
          boolean: 'BOOLEAN',
          date: 'DATETIME',
        },
      },
    }),
  };
}

export const intercom: DeclaredProvider = {
  name: 'intercom',
  displayName: 'Intercom',
  baseUrl: 'https://api.intercom.io',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://app.intercom.com/oauth',
    tokenUrl: 'https://api.intercom.io/auth/eagle/token',
  },
  healthCheck: '/me',
  api: {
    apiVersion: '2.15',
    docsUrl: 'https://developers.intercom.com/docs/references/rest-api/api.intercom.io',
    checkedAgainst:
      "the vendor's published OpenAPI description of 2.15 and its reference of searches and scrolls, and issues of published connectors",
    notes: [
      'A conversation or ticket has at most 500 parts, and only if it is read by id.',
      'A merged contact disappears from lists without an event.',
      'Writing a tag without an id creates it, unless a tag with that name exists.',
    ],
    headers: { 'Intercom-Version': '2.15' },
    errors: {
      messages: ['/errors', '/error'],
      retryHeaders: [{ name: 'X-RateLimit-Reset', format: 'unixSeconds' }],
    },
    identity: { path: '/me', workspaceRef: '/app/id_code', consumerRef: '/id' },
    events: {
      authentication: {
        kind: 'hmac',
        header: 'X-Hub-Signature',
        prefix: 'sha1=',
        algorithm: 'sha1',
        encoding: 'hex',
      },
      account: { source: 'event', at: '/app_id' },
      typeParts: ['/topic'],
      types: {
        'contact.user.created': { object: 'contacts', kind: 'CREATE' },
        'contact.lead.created': { object: 'contacts', kind: 'CREATE' },
        'contact.user.updated': { object: 'contacts', kind: 'UPDATE' },
        'contact.lead.updated': { object: 'contacts', kind: 'UPDATE' },
        'contact.deleted': { object: 'contacts', kind: 'DELETE' },
        'company.created': { object: 'companies', kind: 'CREATE' },
        'company.updated': { object: 'companies', kind: 'UPDATE' },
        'company.deleted': { object: 'companies', kind: 'DELETE' },
        'conversation.user.created': { object: 'conversations', kind: 'CREATE' },
        'conversation.user.replied': { object: 'conversations', kind: 'UPDATE' },
        'conversation.deleted': { object: 'conversations', kind: 'DELETE' },
        'ticket.created': { object: 'tickets', kind: 'CREATE' },
        'ticket.state.updated': { object: 'tickets', kind: 'UPDATE' },
      },
      eventIdParts: ['/id'],
      recordId: { parts: ['/data/item/id'] },
      time: { at: '/created_at', format: 'unixSeconds' },
      acceptedStatus: 200,
      instructions: [
        "In Intercom's Developer Hub, open the app's Webhooks and enter {url} as the endpoint.",
        'Select the topics of contacts, companies, conversations and tickets.',
        "The app's client secret signs requests, so the provider app needs no `webhookSecret`.",
      ],
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
      rateLimits: [{ status: 429 }, ...SCROLL_EXISTS],
    },
    objects: {
      contacts: declareObject('Contacts', 'contacts', {
        fieldModel: 'contact',
        list: {
          ...declarePagedList('contacts', '/data'),
          behavior: { nestedLists: CONTACT_LISTS },
        },
        incrementalList: declareContactSearch(),
      }),
      conversations: declareObject('Conversations', 'conversations', {
        fieldModel: 'conversation',
        createdIdLocation: '/conversation_id',
        list: declarePagedList('conversations', '/conversations'),
        incrementalList: declareSearchList('conversations', '/conversations'),
      }),
      tickets: declareObject('Tickets', 'tickets', {
        list: declareSearchList('tickets', '/tickets'),
      }),
      companies: declareObject('Companies', 'companies', {
        fieldModel: 'company',
        list: {
          ...declareNumberedList('/companies/list'),
          method: 'POST',
          pageSize: { in: 'query', name: 'per_page', max: 60 },
          behavior: {
            expiredCursor: { never: 'Pages are numbered.' },
            depthLimit: { records: 10_000, beyond: 'deepList' },
          },
        },
        deepList: COMPANY_SCROLL,
      }),
      articles: declareObject('Articles', 'articles', { list: declareNumberedList('/articles') }),
      tags: {
        displayName: 'Tags',
        list: declareUnpagedList('/tags', '/data'),
        byIds: { path: '/tags/{id}', records: '' },
        create: { method: 'POST', path: '/tags', responseRecord: '' },
        update: { method: 'POST', path: '/tags', bodyId: '/id', responseRecord: '' },
        remove: { path: '/tags/{id}' },
        standardFields: { id: 'STRING', name: 'STRING' },
      },
      teams: {
        displayName: 'Teams',
        list: declareUnpagedList('/teams', '/teams'),
        byIds: { path: '/teams/{id}', records: '' },
        standardFields: { id: 'STRING', name: 'STRING', distribution_method: 'STRING' },
      },
      admins: {
        displayName: 'Admins',
        list: declareUnpagedList('/admins', '/admins'),
        byIds: { path: '/admins/{id}', records: '' },
        standardFields: { id: 'STRING', name: 'STRING', email: 'STRING', job_title: 'STRING' },
      },
      segments: {
        displayName: 'Segments',
        changedAt: CHANGED_AT,
        list: declareUnpagedList('/segments', '/segments'),
        byIds: { path: '/segments/{id}', records: '' },
        standardFields: { id: 'STRING', name: 'STRING', person_type: 'STRING' },
      },
      collections: {
        displayName: 'Collections',
        changedAt: CHANGED_AT,
        list: declareNumberedList('/help_center/collections'),
        byIds: { path: '/help_center/collections/{id}', records: '' },
        ...declareWrites('/help_center/collections'),
        standardFields: { id: 'STRING', name: 'STRING', description: 'STRING', url: 'STRING' },
      },
      help_centers: {
        displayName: 'Help centers',
        changedAt: CHANGED_AT,
        list: declareUnpagedList('/help_center/help_centers', '/data'),
        byIds: { path: '/help_center/help_centers/{id}', records: '' },
        standardFields: {
          id: 'STRING',
          display_name: 'STRING',
          identifier: 'STRING',
          url: 'STRING',
        },
      },
      news_items: {
        displayName: 'News items',
        changedAt: CHANGED_AT,
        list: declareNumberedList('/news/news_items'),
        byIds: { path: '/news/news_items/{id}', records: '' },
        ...declareWrites('/news/news_items'),
        standardFields: { id: 'STRING', title: 'STRING', body: 'STRING', state: 'STRING' },
      },
      newsfeeds: {
        displayName: 'Newsfeeds',
        changedAt: CHANGED_AT,
        list: declareNumberedList('/news/newsfeeds'),
        standardFields: { id: 'STRING', name: 'STRING' },
      },
      ticket_types: {
        displayName: 'Ticket types',
        changedAt: CHANGED_AT,
        list: declareUnpagedList('/ticket_types', '/data'),
        byIds: { path: '/ticket_types/{id}', records: '' },
        create: { method: 'POST', path: '/ticket_types', responseRecord: '' },
        update: { method: 'PUT', path: '/ticket_types/{id}', responseRecord: '' },
        standardFields: {
          id: 'STRING',
          name: 'STRING',
          description: 'STRING',
          category: 'STRING',
          archived: 'BOOLEAN',
        },
      },
    },
  },
};
