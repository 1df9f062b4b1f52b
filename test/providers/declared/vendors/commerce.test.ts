/** Tests limits of lists, cursors that expire, and values that a vendor returns only if a request names them. */
import { expect, test } from 'vitest';
import { startProviderServer } from '../../../support/providers/provider-server.ts';
import { startVendorServer } from '../../../support/wire/vendor-server.ts';
import { shopify as wire } from '../../../support/wire/vendors/commerce/shopify-wire.ts';
import { isObject } from '../../../support/wire/wire-format.ts';
import { atMinute } from '../../contract-subject.ts';
import { readAll } from '../reading.ts';

test('requests pages of Shopify from the last change, so that the length of lists is not limited', async () => {
  await using server = await startVendorServer({ ...wire.fixture, headers: {} });
  for (let n = 0; n < 10; n += 1) server.store.create({}, atMinute(n));
  const read = { objectName: 'customers', pageSize: 4 };
  expect(await readAll(server.url, 'shopify', read)).toHaveLength(10);
  const cursors = server.requests.map(({ body }) =>
    isObject(body) && isObject(body.variables) ? body.variables.after : null,
  );
  expect(cursors.every((cursor) => cursor === undefined)).toBe(true);
});

test('restarts a read of Square whose cursor expired', async () => {
  await using server = await startProviderServer(({ body }) =>
    isObject(body) && body.cursor !== undefined
      ? { status: 400, body: { errors: [{ code: 'BAD_REQUEST' }] } }
      : { status: 200, body: { customers: [{ id: 'c_1' }], cursor: 'next' } },
  );
  await expect(readAll(server.url, 'square', { objectName: 'customers' })).rejects.toMatchObject({
    kind: 'CURSOR_GONE',
  });
});

test.each([
  ['klaviyo', 'profiles', 'additional-fields[profile]', 'subscriptions', { data: [] }],
  ['freshdesk', 'tickets', 'include', 'description', []],
])('%s: requests values that its list omits', async (name, objectName, parameter, value, body) => {
  await using server = await startProviderServer(() => ({ status: 200, body }));
  await readAll(server.url, name, { objectName, fields: [value] });
  expect(server.requests[0]?.query.get(parameter)).toBe(value);
});
