/** Notion: pages with typed properties, in data sources. */
import { HOUR_MS, MINUTE_MS } from '../../../work/durations.ts';
import type {
  ListInput,
  ObjectDeclarationInput,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

const CHANGED_AT = { at: '/last_edited_time', format: 'iso', precisionMs: MINUTE_MS } as const;

const CURSOR_PAGING = {
  records: '/results',
  pageSize: { in: 'body', name: '/page_size', max: 100 },
  paging: {
    kind: 'cursor',
    parameter: { in: 'body', name: '/start_cursor' },
    next: '/next_cursor',
    hasMore: '/has_more',
  },
  // The vendor returns at most 10,000 records for one query, and marks a result that lacks records.
  limitMark: { at: '/request_status/type', value: 'incomplete' },
} as const;

/** Declares a search for everything that is shared with the connection, with the newest change first. */
function declareSearchList(value: 'page' | 'data_source'): ListInput {
  return {
    method: 'POST',
    path: '/v1/search',
    body: {
      filter: { property: 'object', value },
      sort: { timestamp: 'last_edited_time', direction: 'descending' },
    },
    ...CURSOR_PAGING,
    isNewestFirst: true,
    behavior: {
      timeFilter: 'none',
      depthLimit: 'notDocumented',
      // The vendor's search index is updated late, and at no documented time.
      visibility: { lookBackMs: HOUR_MS },
    },
  };
}

function declareTimeFilter(operator: 'on_or_after' | 'on_or_before') {
  return {
    in: 'body',
    name: '/filter/and/-',
    format: 'iso',
    template: { timestamp: 'last_edited_time', last_edited_time: { [operator]: '{time}' } },
  } as const;
}

/** Declares an object whose records are pages with typed properties. `parent` is where new pages are created. */
function declarePages(displayName: string, list: ListInput, parent?: Record<string, unknown>) {
  return {
    displayName,
    changedAt: CHANGED_AT,
    nestedFields: [
      {
        at: '/properties',
        // These members of a page are not properties.
        names: { except: ['parent', 'icon', 'cover', 'children', 'in_trash'] },
        conversion: 'notionProperties',
        // A page has at most 25 items of a property.
        cutLists: {
          members: ['title', 'rich_text', 'people', 'relation'],
          itemsMax: 25,
          isCut: '/has_more',
          valueId: '/id',
          path: '/v1/pages/{id}/properties/{value}',
          query: { page_size: '100' },
          items: '/results',
          next: '/next_cursor',
          cursorParameter: 'start_cursor',
        },
      },
    ],
    list,
    byIds: { path: '/v1/pages/{id}', records: '', deletionFlag: '/in_trash' },
    create: {
      method: 'POST',
      path: '/v1/pages',
      responseRecord: '',
      ...(parent && { body: { parent } }),
    },
    update: { method: 'PATCH', path: '/v1/pages/{id}', responseRecord: '' },
    remove: { method: 'PATCH', path: '/v1/pages/{id}', body: { in_trash: true } },
  } satisfies ObjectDeclarationInput;
}

export const notion: DeclaredProvider = {
  name: 'notion',
  displayName: 'Notion',
  baseUrl: 'https://api.notion.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://api.notion.com/v1/oauth/authorize',
    tokenUrl: 'https://api.notion.com/v1/oauth/token',
    // Notion, authorization guide: a required parameter.
    authorizeParams: { owner: 'user' },
    clientAuthentication: 'basic',
    tokenFields: { consumerRef: 'owner.user.id', workspaceRef: 'workspace_id' },
  },
  healthCheck: '/v1/users/me',
  limits: { requestsPerSecond: 3 },
  api: {
    apiVersion: '2025-09-03',
    docsUrl: 'https://developers.notion.com/reference/intro',
    checkedAgainst:
      "the vendor's published OpenAPI description of 2025-09-03 and its guides on filters, paging, limits, search, large data sources and page properties",
    notes: [
      "An object is a data source, and its name is the data source's id. `pages` has the pages of all data sources and of other pages. Only content that is shared with the connection is read.",
      'Times are truncated to the minute, so an incremental read repeats the changes of its first minute.',
      '`pages` and `data_sources` are read by the search, which the vendor does not guarantee to be complete. To read all pages of a data source, read the object with its id.',
      'The vendor computes rollups and formulas from at most 25 related pages. Their values lack the others.',
      'A read fails if more than 10,000 pages of a data source changed in the same minute, because the vendor returns no more for one query.',
      "A string is written as rich text, or as the title if the field is `title`. Numbers and booleans are written unchanged, and other properties in Notion's form.",
      'Events are not supported: the vendor sends the signing token once, unsigned, to the URL that receives the events.',
    ],
    headers: { 'Notion-Version': '2025-09-03' },
    errors: {
      messages: ['/message'],
      rules: [{ status: 409, kind: 'RETRYABLE' }],
    },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: {
        precision: 'minute',
        zone: 'utc',
        bounds: 'inclusive',
        column: 'changedAt',
      },
      visibility: 'notDocumented',
      // The vendor documents the status, but not the text.
      expiredCursor: [{ status: 400 }],
      depthLimit: { records: 10_000, beyond: 'keyset' },
      // Requests name no fields.
      fieldsMax: 'none',
      urlBytesMax: 'none',
      nestedLists: [
        { at: '/properties/*/relation', itemsMax: 25, otherItems: 'read' },
        { at: '/properties/*/people', itemsMax: 25, otherItems: 'read' },
        { at: '/properties/*/rich_text', itemsMax: 25, otherItems: 'read' },
        { at: '/properties/*/title', itemsMax: 25, otherItems: 'read' },
        { at: '/properties/*/rollup/array', itemsMax: 25, otherItems: 'missing' },
      ],
      rateLimits: [
        { status: 429, waitMs: MINUTE_MS },
        { status: 529, waitMs: MINUTE_MS },
      ],
    },
    objects: {
      pages: declarePages('Pages', declareSearchList('page')),
      data_sources: {
        displayName: 'Data sources',
        changedAt: CHANGED_AT,
        list: declareSearchList('data_source'),
        byIds: { path: '/v1/data_sources/{id}', records: '', deletionFlag: '/in_trash' },
        create: { method: 'POST', path: '/v1/data_sources', responseRecord: '' },
        update: { method: 'PATCH', path: '/v1/data_sources/{id}', responseRecord: '' },
        remove: { method: 'PATCH', path: '/v1/data_sources/{id}', body: { in_trash: true } },
      },
      users: {
        displayName: 'Users',
        list: {
          path: '/v1/users',
          ...CURSOR_PAGING,
          pageSize: { in: 'query', name: 'page_size', max: 100 },
          paging: { ...CURSOR_PAGING.paging, parameter: { in: 'query', name: 'start_cursor' } },
          behavior: { timeFilter: 'none', depthLimit: 'notDocumented', nestedLists: 'complete' },
        },
        byIds: { path: '/v1/users/{id}', records: '' },
      },
    },
    otherObjects: {
      ...declarePages(
        'Pages of a data source',
        {
          method: 'POST',
          path: '/v1/data_sources/{object}/query',
          body: { sorts: [{ timestamp: 'last_edited_time', direction: 'ascending' }] },
          ...CURSOR_PAGING,
          since: declareTimeFilter('on_or_after'),
          until: declareTimeFilter('on_or_before'),
          isKeysetPaged: true,
        },
        { type: 'data_source_id', data_source_id: '{object}' },
      ),
      standardFields: { title: 'STRING' },
      fieldList: {
        path: '/v1/data_sources/{object}',
        fields: '/properties',
        name: '/name',
        type: '/type',
        types: {
          title: 'STRING',
          rich_text: 'STRING',
          url: 'STRING',
          email: 'STRING',
          phone_number: 'STRING',
          number: 'FLOAT',
          checkbox: 'BOOLEAN',
          date: 'DATETIME',
          created_time: 'DATETIME',
          last_edited_time: 'DATETIME',
        },
      },
    },
    objectList: {
      list: declareSearchList('data_source'),
      name: '/id',
      displayName: '/title/0/plain_text',
    },
  },
};
