/** Tests lists inside records that a vendor cuts. */
import { expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../../../src/providers/declared/all.ts';
import { startProviderServer } from '../../../support/providers/provider-server.ts';
import { createPlainSession } from '../../../support/providers/provider-session.ts';
import { getDeclaration } from '../../../support/wire/declarations.ts';
import { byLastId } from '../../../support/wire/paging.ts';
import { readAll } from '../reading.ts';

const LINES_PATH = '/v1/invoices/in_1/lines';

/** Serves an invoice with 250 lines, of which the invoice contains ten. */
function startInvoiceServer({ linesStatus = 200 } = {}) {
  const lines = Array.from({ length: 250 }, (_, n) => ({
    id: `il_${n}`,
    values: {},
    changedAt: new Date(0),
  }));
  const page = byLastId({ name: 'limit', fallback: 10, max: 100 }, 'starting_after');
  return startProviderServer((request) => {
    if (request.path === LINES_PATH) {
      if (linesStatus !== 200) return { status: linesStatus, body: { error: { message: 'gone' } } };
      const { records, next } = page(lines, request, '');
      return { status: 200, body: { data: records.map(({ id }) => ({ id })), has_more: !!next } };
    }
    const data = lines.slice(0, 10).map(({ id }) => ({ id }));
    const invoice = { id: 'in_1', lines: { object: 'list', data, has_more: true } };
    const emptyInvoice = { id: 'in_2', lines: { object: 'list', data: [], has_more: false } };
    return request.path === '/v1/invoices/in_1'
      ? { status: 200, body: invoice }
      : { status: 200, body: { data: [invoice, emptyInvoice], has_more: false } };
  });
}

const READ = { objectName: 'invoices', fields: ['lines'] };

test('reads the other items of a list that a record cuts', async () => {
  await using server = await startInvoiceServer();
  const [invoice, emptyInvoice] = await readAll(server.url, 'stripe', READ);
  expect(invoice?.fields.lines).toMatchObject({ has_more: false });
  expect(invoice?.fields.lines).toHaveProperty('data.length', 250);
  expect(invoice?.raw.lines).toEqual(invoice?.fields.lines);
  expect(emptyInvoice?.fields.lines).toMatchObject({ data: [] });
});

test('reads the other items of a record that is read by id', async () => {
  await using server = await startInvoiceServer();
  const { readRecords } = createDeclarativeProvider(getDeclaration('stripe')).capabilities;
  const session = createPlainSession(server.url, {});
  const records = await readRecords?.(session, { ...READ, ids: ['in_1'] });
  expect(records?.[0]?.fields.lines).toHaveProperty('data.length', 250);
});

test('reads only selected lists', async () => {
  await using server = await startInvoiceServer();
  await readAll(server.url, 'stripe', { ...READ, fields: ['id'] });
  expect(server.requests.map(({ path }) => path)).toEqual(['/v1/invoices']);
});

test('returns a record as listed if it is deleted before its list is read', async () => {
  await using server = await startInvoiceServer({ linesStatus: 404 });
  const records = await readAll(server.url, 'stripe', READ);
  expect(records.map(({ id }) => id)).toEqual(['in_1', 'in_2']);
});

test.each(
  DECLARATIONS.map((declared) => [declared.name, declared] as const),
)('%s: reads exactly the lists whose other items are declared as read', (_name, { api }) => {
  const objects = [...Object.values(api.objects), ...(api.otherObjects ? [api.otherObjects] : [])];
  const lists = objects.flatMap(({ list, incrementalList }) => [list, incrementalList ?? list]);
  const answers = [api, ...lists].flatMap(({ behavior }) => {
    const answer = behavior?.nestedLists;
    return typeof answer === 'object' ? answer : [];
  });
  const declaredLists = answers.filter(({ otherItems }) => otherItems === 'read');
  const readLists = objects.flatMap(({ nestedLists = [], nestedFields = [] }) => [
    ...nestedLists.map(({ at }) => at),
    ...nestedFields.flatMap(({ at, cutLists }) =>
      (cutLists?.members ?? []).map((member) => `${at}/*/${member}`),
    ),
  ]);
  expect(new Set(declaredLists.map(({ at }) => at))).toEqual(new Set(readLists));
});
