import { answersGraphql, GraphqlRefusal, type Operation } from '../../graphql-vendor.ts';
import { isObject, TOKEN, tooLong, type Values, type WireVendor } from '../../terms.ts';
import type { StoredRecord, VendorStore } from '../../vendor-store.ts';

const BOARD = '1234567890';
const problemWith = tooLong('name');

const show = ({ id, changedAt, values }: StoredRecord): Values => ({
  id: String(id),
  name: values.name,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: changedAt.toISOString().replace(/\.\d+Z/, 'Z'),
  state: 'active',
  board: { id: BOARD },
  group: { id: 'topics' },
  column_values: [{ id: 'status', text: values.status ?? '' }],
});

/** Values of columns come as JSON in a text; the name is a column too. */
function valuesIn(values: unknown): Values {
  if (typeof values !== 'string')
    throw new GraphqlRefusal('Variable $values is not JSON in a text');
  const parsed: unknown = JSON.parse(values);
  if (!isObject(parsed)) throw new GraphqlRefusal('invalid value for column_values');
  const problem = problemWith(parsed);
  if (problem) throw new GraphqlRefusal(problem);
  return parsed;
}

/** A cursor lives for an hour, and is null after the last page. */
function itemsPage(store: VendorStore, { limit, cursor }: Values) {
  const size = Number(limit);
  if (!Number.isInteger(size) || size < 1 || size > 500) throw new GraphqlRefusal('Invalid limit');
  const from = cursor == null ? 0 : Number(/^MSw(\d+)$/.exec(String(cursor))?.[1]);
  if (Number.isNaN(from)) throw new GraphqlRefusal('CursorException: the cursor is invalid');
  const to = from + size;
  return {
    cursor: to < store.records.length ? `MSw${to}` : null,
    items: store.records.slice(from, to).map(show),
  };
}

function boards({ query, variables }: Operation, store: VendorStore): Values[] {
  if (query.includes('items_page')) {
    return variables.board === BOARD ? [{ items_page: itemsPage(store, variables) }] : [];
  }
  const board = { id: BOARD, name: 'Plan', state: 'active', updated_at: '2026-01-01T00:00:00Z' };
  return Number(variables.page ?? 1) === 1 ? [board] : [];
}

function changed(operation: Operation, store: VendorStore, now: Date): Values {
  const { name, variables } = operation;
  if (name === 'create_item') {
    const problem = problemWith({ name: variables.name });
    if (problem) throw new GraphqlRefusal(problem);
    return show(store.create({ ...valuesIn(variables.values), name: variables.name }, now));
  }
  const record = store.find(String(variables.item));
  if (!record) throw new GraphqlRefusal('ResourceNotFoundException: item not found');
  if (name === 'delete_item') {
    store.remove(record);
    return { id: String(record.id) };
  }
  if (name !== 'change_multiple_column_values') throw new GraphqlRefusal(`Undefined field ${name}`);
  if (variables.board !== BOARD) throw new GraphqlRefusal('InvalidBoardIdException');
  Object.assign(record.values, valuesIn(variables.values));
  record.changedAt = now;
  return show(record);
}

/** Items lie on a board; the token has no prefix, and what is wrong is told with status 200. */
export const monday: WireVendor = {
  objectName: 'items',
  textField: 'name',
  missingId: `${BOARD}:999`,
  needs: { board_id: BOARD },
  fixture: {
    idOf: (n) => 9_876_540_000 + n,
    refOf: (id) => `${BOARD}:${id}`,
    headers: { authorization: TOKEN },
    contentType: 'application/json',
    invalidStatus: 200,
    refusal: (_status, message) => ({
      errors: [{ message, extensions: { code: 'ColumnValueException' } }],
      account_id: 1,
    }),
    problemWith,
    other: answersGraphql('/v2', (operation, store, now) =>
      operation.name === 'boards' ? boards(operation, store) : changed(operation, store, now),
    ),
    object: { show, lists: [] },
  },
};
