/** monday.com: a GraphQL API whose items hold their values in columns. */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../work/durations.ts';
import type {
  ListInput,
  ObjectDeclarationInput,
  StandardFields,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

/** All requests have the same URL. The GraphQL query is in the body. */
const PATH = '/v2';

/** Declares a list with numbered pages. It ends with an empty page. */
function declareList(name: string, fields: string, args = ''): ListInput {
  return {
    method: 'POST',
    path: PATH,
    body: {
      query: `query ($limit: Int, $page: Int) { ${name}(limit: $limit, page: $page${args}) { ${fields} } }`,
    },
    records: `/data/${name}`,
    pageSize: { in: 'body', name: '/variables/limit', max: 100 },
    paging: { kind: 'page', parameter: { in: 'body', name: '/variables/page' } },
  };
}

function declareIdLookup(
  name: string,
  fields: string,
): NonNullable<ObjectDeclarationInput['byIds']> {
  return {
    method: 'POST',
    path: PATH,
    body: { query: `query ($ids: [ID!]) { ${name}(ids: $ids, limit: 100) { ${fields} } }` },
    ids: { in: 'body', name: '/variables/ids', isList: true, max: 100 },
    records: `/data/${name}`,
  };
}

function formatSelection(standardFields: StandardFields): string {
  return Object.keys(standardFields).join(' ');
}

const BOARD_FIELDS: StandardFields = {
  id: 'STRING',
  name: 'STRING',
  description: 'STRING',
  state: 'STRING',
  board_kind: 'STRING',
  updated_at: 'DATETIME',
};
const USER_FIELDS: StandardFields = {
  id: 'STRING',
  name: 'STRING',
  email: 'STRING',
  created_at: 'DATETIME',
};
const UPDATE_FIELDS: StandardFields = {
  id: 'STRING',
  item_id: 'STRING',
  body: 'STRING',
  created_at: 'DATETIME',
  updated_at: 'DATETIME',
};
const ITEM_FIELDS: StandardFields = {
  id: 'STRING',
  name: 'STRING',
  created_at: 'DATETIME',
  updated_at: 'DATETIME',
};
const ITEM_OWN_SELECTION = `${formatSelection(ITEM_FIELDS)} state board { id } group { id }`;
const ITEM_SELECTION = `${ITEM_OWN_SELECTION} column_values { id type text }`;
/** Columns that show other items have no text, and their display value is costly. */
const DISPLAY_VALUES = ['MirrorValue', 'BoardRelationValue', 'DependencyValue']
  .map((type) => `... on ${type} { display_value }`)
  .join(' ');
const CHANGED_AT = { at: '/updated_at', format: 'iso' } as const;

/** Items of a board. Writes address columns by id, and values have monday's format for the column type. */
const items: ObjectDeclarationInput = {
  displayName: 'Items',
  id: { parts: { board_id: '/board/id', item: '/id' }, separator: ':' },
  parent: { object: 'boards', variable: 'board_id' },
  changedAt: CHANGED_AT,
  nestedFields: [
    {
      at: '/column_values',
      entries: {
        name: '/id',
        value: '/text',
        writeFormat: 'map',
        omittedInList: {
          type: '/type',
          types: ['mirror', 'board_relation', 'dependency'],
          value: '/display_value',
        },
      },
    },
  ],
  list: {
    method: 'POST',
    path: PATH,
    body: {
      query: `query ($board: ID!, $limit: Int!, $cursor: String) { boards(ids: [$board]) {
        items_page(limit: $limit, cursor: $cursor) { cursor items { ${ITEM_SELECTION} } } } }`,
      variables: { board: '{board_id}' },
    },
    records: '/data/boards/0/items_page/items',
    pageSize: { in: 'body', name: '/variables/limit', max: 500 },
    paging: {
      kind: 'cursor',
      parameter: { in: 'body', name: '/variables/cursor' },
      next: '/data/boards/0/items_page/cursor',
    },
    behavior: {
      // Cursors expire after an hour. The vendor spells the error in several ways.
      expiredCursor: [
        { contains: 'CursorExpiredError' },
        { contains: 'CursorException' },
        { contains: 'cursor has expired' },
        { contains: 'cursor is invalid' },
      ],
    },
  },
  byIds: {
    method: 'POST',
    path: PATH,
    body: {
      query: `query ($ids: [ID!], $columns: [String!]) {
        items(ids: $ids, limit: 100, exclude_nonactive: true) { ${ITEM_OWN_SELECTION}
          column_values(ids: $columns) { id type text ${DISPLAY_VALUES} } } }`,
    },
    ids: { in: 'body', name: '/variables/ids', isList: true, max: 100, part: 'item' },
    records: '/data/items',
    selectedFields: { in: 'body', name: '/variables/columns', isList: true },
  },
  create: {
    method: 'POST',
    path: PATH,
    body: {
      query: `mutation ($board: ID!, $name: String!, $values: JSON) {
        create_item(board_id: $board, item_name: $name, column_values: $values) { ${ITEM_SELECTION} } }`,
      variables: { board: '{board_id}', name: '{name}' },
    },
    bodyRecord: '/variables/values',
    isStringified: true,
    responseRecord: '/data/create_item',
  },
  update: {
    method: 'POST',
    path: PATH,
    body: {
      query: `mutation ($board: ID!, $item: ID!, $values: JSON!) {
        change_multiple_column_values(board_id: $board, item_id: $item, column_values: $values) {
          ${ITEM_SELECTION} } }`,
      variables: { board: '{board_id}', item: '{item}' },
    },
    bodyRecord: '/variables/values',
    isStringified: true,
    responseRecord: '/data/change_multiple_column_values',
  },
  remove: {
    method: 'POST',
    path: PATH,
    body: {
      query: 'mutation ($item: ID!) { delete_item(item_id: $item) { id } }',
      variables: { item: '{item}' },
    },
  },
  standardFields: ITEM_FIELDS,
};

const updates: ObjectDeclarationInput = {
  displayName: 'Updates',
  changedAt: CHANGED_AT,
  list: declareList('updates', formatSelection(UPDATE_FIELDS)),
  byIds: declareIdLookup('updates', formatSelection(UPDATE_FIELDS)),
  create: {
    method: 'POST',
    path: PATH,
    body: {
      query: `mutation ($item: ID!, $body: String!) {
        create_update(item_id: $item, body: $body) { ${formatSelection(UPDATE_FIELDS)} } }`,
      variables: { item: '{item_id}', body: '{body}' },
    },
    bodyRecord: '/variables',
    allowedFields: [],
    responseRecord: '/data/create_update',
  },
  update: {
    method: 'POST',
    path: PATH,
    body: {
      query: `mutation ($id: ID!, $body: String!) {
        edit_update(id: $id, body: $body) { ${formatSelection(UPDATE_FIELDS)} } }`,
    },
    bodyRecord: '/variables',
    allowedFields: ['body'],
    bodyId: '/variables/id',
    responseRecord: '/data/edit_update',
  },
  remove: {
    method: 'POST',
    path: PATH,
    body: { query: 'mutation ($id: ID!) { delete_update(id: $id) { id } }' },
    bodyId: '/variables/id',
  },
  standardFields: UPDATE_FIELDS,
};

export const monday: DeclaredProvider = {
  name: 'monday',
  displayName: 'monday.com',
  baseUrl: 'https://api.monday.com',
  authSchemes: ['API_KEY'],
  credentialsDocsUrl: 'https://developer.monday.com/api-reference/docs/authentication',
  apiKey: { in: 'header', name: 'Authorization' },
  healthCheck: { method: 'POST', path: PATH, body: { query: '{ me { id } }' } },
  limits: { requestsPerSecond: 2 },
  api: {
    apiVersion: '2026-04',
    docsUrl: 'https://developer.monday.com/api-reference/',
    checkedAgainst:
      "the requests and responses of published connectors, the vendor's guides and changelog on rate limits, errors and column values, and its SDK for Python",
    notes: [
      "Items are read board by board, and their id is `board:item`. A create requires `board_id`. Column values are read as strings under the column ids, and are written in monday's format for the column type.",
      'A board is created with `name`, and optionally `board_kind` (`public` by default), `description`, `workspace_id` and `folder_id`. Boards are not updated, because the vendor changes one attribute in each request.',
      "The vendor can't filter by the time of change, so each read fetches all records.",
      'Subitems are read as items of their own boards. Boards with several levels of subitems are not read, because the vendor lists only classic boards.',
      'Mirror, connect boards and dependency columns are read as the names that they display, with one more request for each 100 items that have such a selected column. Formula columns are read as empty strings, because the vendor limits how many of their values are read.',
      'Events are not supported: each board would need a webhook for each event type, and the requests of webhooks that a personal token creates are not signed.',
    ],
    headers: { 'API-Version': '2026-04' },
    errors: {
      messages: ['/errors', '/error_message'],
      failureMember: '/errors',
      rules: [
        { contains: 'Not Authenticated', kind: 'AUTH_INVALIDATED' },
        { contains: 'INTERNAL_SERVER_ERROR', kind: 'SERVER_ERROR' },
        { contains: 'Internal server error', kind: 'SERVER_ERROR' },
        { contains: 'API_TEMPORARILY_BLOCKED', kind: 'RETRYABLE' },
      ],
      retrySeconds: '/errors/0/extensions/retry_in_seconds',
    },
    behavior: {
      // Pages give no sign of the end, and boards that the account may not see may shorten them.
      shortPage: 'notDocumented',
      timeFilter: 'none',
      visibility: 'notDocumented',
      expiredCursor: { never: 'The next page is a number.' },
      depthLimit: 'notDocumented',
      fieldsMax: 'notDocumented',
      // Fields are in the body.
      urlBytesMax: 'none',
      nestedLists: 'notDocumented',
      // The errors of each limit have several spellings, some with status 200. Budgets refill within a minute.
      rateLimits: [
        { contains: 'DAILY_LIMIT_EXCEEDED', waitMs: HOUR_MS },
        { contains: 'daily limit exceeded', waitMs: HOUR_MS },
        { contains: 'ComplexityException', waitMs: MINUTE_MS },
        { contains: 'COMPLEXITY_BUDGET_EXHAUSTED', waitMs: MINUTE_MS },
        { contains: 'complexityBudgetExhausted', waitMs: MINUTE_MS },
        { contains: 'complexity budget exhausted', waitMs: MINUTE_MS },
        { contains: 'maxComplexityExceeded', waitMs: MINUTE_MS },
        { contains: 'RATE_LIMIT_EXCEEDED', waitMs: MINUTE_MS },
        { contains: 'rate limit exceeded', waitMs: MINUTE_MS },
        { contains: 'minute limit', waitMs: MINUTE_MS },
        { contains: 'call limit exceeded', waitMs: MINUTE_MS },
        { contains: 'maxConcurrencyExceeded', waitMs: 30 * SECOND_MS },
        { contains: 'concurrency limit exceeded', waitMs: 30 * SECOND_MS },
        { status: 429, waitMs: MINUTE_MS },
      ],
    },
    objects: {
      boards: {
        displayName: 'Boards',
        changedAt: CHANGED_AT,
        list: declareList('boards', formatSelection(BOARD_FIELDS), ', state: active'),
        byIds: declareIdLookup('boards', formatSelection(BOARD_FIELDS)),
        create: {
          method: 'POST',
          path: PATH,
          body: {
            query: `mutation ($name: String!, $board_kind: BoardKind = public, $description: String, $workspace_id: ID,
              $folder_id: ID) {
              create_board(board_name: $name, board_kind: $board_kind, description: $description,
                workspace_id: $workspace_id, folder_id: $folder_id) { ${formatSelection(BOARD_FIELDS)} } }`,
            variables: { name: '{name}' },
          },
          bodyRecord: '/variables',
          allowedFields: ['board_kind', 'description', 'workspace_id', 'folder_id'],
          responseRecord: '/data/create_board',
        },
        remove: {
          method: 'POST',
          path: PATH,
          body: { query: 'mutation ($id: ID!) { delete_board(board_id: $id) { id } }' },
          bodyId: '/variables/id',
        },
        standardFields: BOARD_FIELDS,
      },
      items,
      updates,
      users: {
        displayName: 'Users',
        list: declareList('users', formatSelection(USER_FIELDS)),
        byIds: declareIdLookup('users', formatSelection(USER_FIELDS)),
        standardFields: USER_FIELDS,
      },
    },
  },
};
