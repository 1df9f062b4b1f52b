import type {
  ListInput,
  ObjectDeclarationInput,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';
import { isObject } from '../../declarative/json.ts';

const MINUTE_MS = 60_000;
const CHANGED_AT = { at: '/last_edited_time', format: 'iso', precisionMs: MINUTE_MS } as const;

const PAGED = {
  records: '/results',
  pageSize: { in: 'body', name: '/page_size', max: 100 },
  paging: {
    kind: 'cursor',
    parameter: { in: 'body', name: '/start_cursor' },
    next: '/next_cursor',
    hasMore: '/has_more',
  },
} as const;

/** Declares a search for everything that is shared with the connection, newest change first. */
function searchList(value: 'page' | 'data_source'): ListInput {
  return {
    method: 'POST',
    path: '/v1/search',
    body: {
      filter: { property: 'object', value },
      sort: { timestamp: 'last_edited_time', direction: 'descending' },
    },
    ...PAGED,
    isNewestFirst: true,
  };
}

function timeFilter(operator: 'on_or_after' | 'on_or_before') {
  return {
    in: 'body',
    name: '/filter/and/-',
    format: 'iso',
    template: { timestamp: 'last_edited_time', last_edited_time: { [operator]: '{time}' } },
    marginMs: MINUTE_MS,
  } as const;
}

/** Declares pages of a data source or of other pages. Values are in typed properties. */
function declarePages(displayName: string, list: ListInput, parent?: Record<string, unknown>) {
  return {
    displayName,
    changedAt: CHANGED_AT,
    nested: [
      {
        at: '/properties',
        namePattern: /^(?!(parent|icon|cover|children|in_trash)$)/,
        decode: notionValue,
        addAliases: notionTitle,
        encode: notionProperty,
      },
    ],
    list: list,
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
    clientAuthentication: 'basic',
    tokenFields: { consumerRef: 'owner.user.id', workspaceRef: 'workspace_id' },
  },
  limits: { requestsPerSecond: 3 },
  records: {
    apiVersion: '2025-09-03',
    docsUrl: 'https://developers.notion.com/reference/intro',
    checkedAgainst:
      "the vendor's published OpenAPI description of 2025-09-03 and its guides on filters and paging",
    notes: [
      'An object is a data source by its id; `pages` are those of all of them, and of other pages. Only what is shared with the connection is there.',
      'Times are cut to the minute: a read of changes gives what changed in the minute that it begins in again.',
      'A text is written as rich text, `title` as the title, a number and a flag as such; other properties in the form that Notion has for them.',
      'Subscribing is left out: the token that signs is sent once, unsigned, to the address that gets the events.',
    ],
    headers: { 'Notion-Version': '2025-09-03' },
    errors: {
      messages: ['/message'],
      rules: [
        { status: 400, contains: 'start_cursor', kind: 'CURSOR_GONE' },
        { status: 409, kind: 'RETRYABLE' },
      ],
    },
    objects: {
      pages: declarePages('Pages', searchList('page')),
      data_sources: {
        displayName: 'Data sources',
        changedAt: CHANGED_AT,
        list: searchList('data_source'),
        byIds: { path: '/v1/data_sources/{id}', records: '', deletionFlag: '/in_trash' },
        create: { method: 'POST', path: '/v1/data_sources', responseRecord: '' },
        update: { method: 'PATCH', path: '/v1/data_sources/{id}', responseRecord: '' },
        remove: { method: 'PATCH', path: '/v1/data_sources/{id}', body: { in_trash: true } },
      },
      users: {
        displayName: 'Users',
        list: {
          path: '/v1/users',
          ...PAGED,
          pageSize: { in: 'query', name: 'page_size', max: 100 },
          paging: { ...PAGED.paging, parameter: { in: 'query', name: 'start_cursor' } },
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
          ...PAGED,
          since: timeFilter('on_or_after'),
          until: timeFilter('on_or_before'),
        },
        { type: 'data_source_id', data_source_id: '{object}' },
      ),
      standardFields: { title: 'STRING' },
      fields: {
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
      list: searchList('data_source'),
      name: '/id',
      displayName: '/title/0/plain_text',
    },
  },
};

/**
 * Converts a typed property to a plain value, which can be written back if Notion permits it. Types without a plain
 * value stay unchanged.
 */
function notionValue(property: unknown): unknown {
  if (!isObject(property) || typeof property.type !== 'string') return property;
  const value = property[property.type];
  if (Array.isArray(value)) return plainList(value);
  if (!isObject(value)) return value ?? null;
  if (property.type === 'formula' || property.type === 'rollup') return notionValue(value);
  if (property.type === 'unique_id') return [value.prefix, value.number].filter(Boolean).join('-');
  if (property.type === 'date') return value.end == null ? value.start : value;
  return value.name ?? value.email ?? value.id ?? value;
}

/** Joins the parts of a text. Lists of options, people and pages become lists of names or ids. */
function plainList(parts: unknown[]): unknown {
  const texts = parts.filter(isObject);
  if (texts.every(({ plain_text }) => typeof plain_text === 'string')) {
    return texts.map(({ plain_text }) => plain_text).join('');
  }
  return texts.map((part) => part.name ?? part.id ?? notionValue(part));
}

/** Adds the title property under the name `title`, whatever its name in Notion. */
function notionTitle(properties: Record<string, unknown>): Record<string, unknown> {
  const title = Object.values(properties).find(
    (property) => isObject(property) && property.type === 'title',
  );
  return title === undefined ? {} : { title };
}

/**
 * Converts a plain value for a write: a text to rich text or the title, a number or boolean to a property of its type.
 * Other values must have Notion's own form.
 */
function notionProperty(value: unknown, name: string): unknown {
  if (typeof value === 'number') return { number: value };
  if (typeof value === 'boolean') return { checkbox: value };
  if (typeof value !== 'string') return value;
  const text = [{ type: 'text', text: { content: value } }];
  return name === 'title' ? { title: text } : { rich_text: text };
}
