/** Tests that a provider lists the declared objects and those that the vendor's API lists for the account. */
import { expect, test } from 'vitest';
import { DECLARED } from '../../../src/providers/declared/all.ts';
import { startProviderServer } from '../../support/providers/provider-server.ts';
import { createPlainSession } from '../../support/providers/provider-session.ts';
import { isObject } from '../../support/wire/wire-format.ts';

function getListingProvider(name: string) {
  const provider = DECLARED.find((declaration) => declaration.name === name);
  const listObjects = provider?.capabilities.listObjects;
  if (!provider || !listObjects) throw new Error(`${name} lists no objects`);
  return { provider, listObjects };
}

test('notion: lists data sources as objects by their titles, page by page', async () => {
  const { listObjects, provider } = getListingProvider('notion');
  await using server = await startProviderServer(({ body }) => {
    const { start_cursor: cursor, filter } = isObject(body) ? body : {};
    expect(filter).toEqual({ property: 'object', value: 'data_source' });
    const [sourceA, sourceB] = ['a', 'b'].map((id) => ({
      object: 'data_source',
      id: `ds-${id}`,
      title: [{ plain_text: `Source ${id}` }],
      last_edited_time: '2026-01-01T00:00:00.000Z',
    }));
    const page =
      cursor === undefined
        ? { results: [sourceA], next_cursor: 'c1', has_more: true }
        : { results: [sourceB], next_cursor: null, has_more: false };
    return { status: 200, body: { object: 'list', ...page } };
  });
  const objects = await listObjects(createPlainSession(server.url));
  expect(objects.map(({ name }) => name)).toEqual([
    'pages',
    'data_sources',
    'users',
    'ds-a',
    'ds-b',
  ]);
  expect(objects.at(-1)).toEqual({ name: 'ds-b', displayName: 'Source b' });
  expect(provider.commonObjects?.map(({ name }) => name)).toEqual([
    'pages',
    'data_sources',
    'users',
  ]);
});

test("airtable: lists tables as objects, and adds the vendor's name to an error", async () => {
  const { listObjects } = getListingProvider('airtable');
  const options = { metadata: { base: 'app1' } };
  const body = { tables: [{ id: 'tbl1', name: 'Tasks' }] };
  await using server = await startProviderServer(({ path }) =>
    path === '/v0/meta/bases/app1/tables' ? { status: 200, body } : { status: 404 },
  );
  expect(await listObjects(createPlainSession(server.url, {}, options))).toEqual([
    { name: 'tbl1', displayName: 'Tasks' },
  ]);
  server.failNext({ status: 403, body: { error: { message: 'no scope' } } });
  await expect(listObjects(createPlainSession(server.url, {}, options))).rejects.toThrow(
    /Airtable returned 403/,
  );
});

test('lists the common objects for an account without objects of its own', async () => {
  const { listObjects, provider } = getListingProvider('pipedrive');
  const objects = await listObjects(createPlainSession('http://127.0.0.1:1'));
  expect(objects).toEqual(
    provider.commonObjects?.map(({ name, displayName }) => ({ name, displayName })),
  );
});
