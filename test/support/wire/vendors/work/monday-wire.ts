import { type GraphqlOperation, GraphqlRefusal, serveGraphql } from '../../graphql-vendor.ts';
import type { StoredRecord, VendorStore } from '../../vendor-store.ts';
import {
  createLengthCheck,
  isObject,
  TOKEN,
  type Values,
  type WireVendor,
} from '../../wire-format.ts';

const BOARD_ID = '1234567890';
const findValueError = createLengthCheck('name');

/** The board's columns. A connected column has no text, and its display value must be requested. */
const toColumnValues = (values: Values, query: string): Values[] => [
  { id: 'status', type: 'status', text: values.status ?? '' },
  {
    id: 'connect_boards',
    type: 'board_relation',
    text: null,
    ...(query.includes('... on BoardRelationValue { display_value }') && {
      display_value: `Linked to ${values.name}`,
    }),
  },
];

const toVendorRecord = ({ id, changedAt, values }: StoredRecord, query = ''): Values => ({
  id: String(id),
  name: values.name,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: changedAt.toISOString().replace(/\.\d+Z/, 'Z'),
  state: 'active',
  board: { id: BOARD_ID },
  group: { id: 'topics' },
  column_values: toColumnValues(values, query),
});

/** The values of columns are a text with JSON. The name is a column too. */
function parseValues(values: unknown): Values {
  if (typeof values !== 'string')
    throw new GraphqlRefusal('Variable $values is not JSON in a text');
  const parsedValues: unknown = JSON.parse(values);
  if (!isObject(parsedValues)) throw new GraphqlRefusal('invalid value for column_values');
  const problem = findValueError(parsedValues);
  if (problem) throw new GraphqlRefusal(problem);
  return parsedValues;
}

/** The real cursor expires after an hour. It is null after the last page. */
function createItemsPage(store: VendorStore, { limit, cursor }: Values) {
  const size = Number(limit);
  if (!Number.isInteger(size) || size < 1 || size > 500) throw new GraphqlRefusal('Invalid limit');
  const from = cursor == null ? 0 : Number(/^MSw(\d+)$/.exec(String(cursor))?.[1]);
  if (Number.isNaN(from)) throw new GraphqlRefusal('CursorException: the cursor is invalid');
  const to = from + size;
  return {
    cursor: to < store.records.length ? `MSw${to}` : null,
    items: store.records.slice(from, to).map((record) => toVendorRecord(record)),
  };
}

/** Items are returned in any order, without those that don't exist. */
function serveItems({ query, variables }: GraphqlOperation, store: VendorStore): Values[] {
  const ids = Array.isArray(variables.ids) ? variables.ids : [];
  if (ids.length > 100) throw new GraphqlRefusal('Too many ids: the maximum is 100');
  const columns = Array.isArray(variables.columns) ? variables.columns : [];
  return store.records
    .filter(({ id }) => ids.includes(String(id)))
    .toReversed()
    .map((record) => {
      const item = toVendorRecord(record, query);
      return {
        ...item,
        column_values: toColumnValues(record.values, query).filter(({ id }) =>
          columns.includes(id),
        ),
      };
    });
}

function serveBoards({ query, variables }: GraphqlOperation, store: VendorStore): Values[] {
  if (query.includes('items_page')) {
    return variables.board === BOARD_ID ? [{ items_page: createItemsPage(store, variables) }] : [];
  }
  // The vendor selects a page of boards, and then omits the boards that the account may not see.
  const size = Number(variables.limit);
  const from = (Number(variables.page ?? 1) - 1) * size;
  return ['a secret board', BOARD_ID]
    .slice(from, from + size)
    .filter((id) => id === BOARD_ID)
    .map((id) => ({ id, name: 'Plan', state: 'active', updated_at: '2026-01-01T00:00:00Z' }));
}

function serveChange(operation: GraphqlOperation, store: VendorStore, now: Date): Values {
  const { name, variables } = operation;
  if (name === 'create_item') {
    const problem = findValueError({ name: variables.name });
    if (problem) throw new GraphqlRefusal(problem);
    return toVendorRecord(
      store.create({ ...parseValues(variables.values), name: variables.name }, now),
    );
  }
  const record = store.find(String(variables.item));
  if (!record) throw new GraphqlRefusal('ResourceNotFoundException: item not found');
  if (name === 'delete_item') {
    store.remove(record);
    return { id: String(record.id) };
  }
  if (name !== 'change_multiple_column_values') throw new GraphqlRefusal(`Undefined field ${name}`);
  if (variables.board !== BOARD_ID) throw new GraphqlRefusal('InvalidBoardIdException');
  Object.assign(record.values, parseValues(variables.values));
  record.changedAt = now;
  return toVendorRecord(record);
}

/** Items belong to a board. The token has no prefix, and errors have status 200. */
export const monday: WireVendor = {
  objectName: 'items',
  textField: 'name',
  missingId: `${BOARD_ID}:999`,
  requiredValues: { board_id: BOARD_ID },
  fixture: {
    createId: (n) => 9_876_540_000 + n,
    createReference: (id) => `${BOARD_ID}:${id}`,
    headers: { authorization: TOKEN },
    invalidStatus: 200,
    toErrorBody: (_status, message) => ({
      errors: [{ message, extensions: { code: 'ColumnValueException' } }],
      account_id: 1,
    }),
    findValueError,
    override: serveGraphql('/v2', (operation, store, now) => {
      if (operation.name === 'boards') return serveBoards(operation, store);
      if (operation.name === 'items') return serveItems(operation, store);
      return serveChange(operation, store, now);
    }),
    object: { toVendorRecord, lists: [] },
  },
};
