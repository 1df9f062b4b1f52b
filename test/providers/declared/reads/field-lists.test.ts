/** Tests that an object is described by all pages of the account's list of fields. */
import { expect, test } from 'vitest';
import type { DeclaredProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import { DECLARED } from '../../../../src/providers/declared/all.ts';
import {
  type ServedRequest,
  startProviderServer,
} from '../../../support/providers/provider-server.ts';
import { createPlainSession, UNDOCUMENTED } from '../../../support/providers/provider-session.ts';
import { catchFailure } from '../../contract-subject.ts';

type Describe = NonNullable<(typeof DECLARED)[number]['capabilities']['describeObject']>;

interface FieldPages {
  name: string;
  objectName: string;
  path: string;
  /** Returns the body of a page, as the vendor documents it. Without a position, the first page. */
  toBody(request: ServedRequest): unknown;
  fieldNames: string[];
  /** True if an empty page ends the list. */
  hasEmptyPage?: boolean;
}

const VENDORS: FieldPages[] = [
  {
    name: 'attio',
    objectName: 'companies',
    path: '/v2/objects/companies/attributes',
    toBody: ({ query }) => {
      const offset = Number(query.get('offset') ?? 0);
      return { data: [{ api_slug: 'a' }, { api_slug: 'b' }].slice(offset, offset + 1) };
    },
    fieldNames: ['a', 'b'],
    hasEmptyPage: true,
  },
  {
    name: 'close',
    objectName: 'lead',
    path: '/api/v1/custom_field/lead/',
    toBody: ({ query }) =>
      query.get('_skip') === '2'
        ? { has_more: false, data: [{ id: 'cf_3' }] }
        : { has_more: true, data: [{ id: 'cf_1' }, { id: 'cf_2' }] },
    fieldNames: ['custom.cf_1', 'custom.cf_2', 'custom.cf_3'],
  },
  {
    name: 'pipedrive',
    objectName: 'persons',
    path: '/api/v2/personFields',
    toBody: ({ query }) =>
      query.get('cursor') === 'second'
        ? { data: [{ field_code: 'b' }], additional_data: { next_cursor: null } }
        : { data: [{ field_code: 'a' }], additional_data: { next_cursor: 'second' } },
    fieldNames: ['a', 'b'],
  },
  {
    name: 'zendeskSupport',
    objectName: 'users',
    path: '/api/v2/user_fields',
    toBody: ({ query, headers, path }) =>
      query.get('page') === '2'
        ? { user_fields: [{ key: 'b' }], next_page: null, count: 2 }
        : {
            user_fields: [{ key: 'a' }],
            next_page: `http://${headers.host}${path}?page=2`,
            count: 2,
          },
    fieldNames: ['a', 'b'],
  },
];

function getDescribe(name: string): Describe {
  const describe = DECLARED.find((provider) => provider.name === name)?.capabilities.describeObject;
  if (!describe) throw new Error(`${name} describes no objects`);
  return describe;
}

test.each(VENDORS)('$name: describes the fields of all pages', async (vendor) => {
  await using server = await startProviderServer((request) =>
    request.path === vendor.path
      ? { status: 200, body: vendor.toBody(request) }
      : { status: 404, body: {} },
  );
  const session = createPlainSession(server.url);
  const { fields } = await getDescribe(vendor.name)(session, vendor.objectName);
  const fieldNames = fields.map(({ fieldName }) => fieldName);
  expect(fieldNames.filter((name) => vendor.fieldNames.includes(name))).toEqual(vendor.fieldNames);
  const [first, second, ...others] = server.requests;
  expect(others).toHaveLength(vendor.hasEmptyPage ? 1 : 0);
  // The size of a page stays the same.
  for (const parameter of ['_limit', 'limit'])
    expect(second?.query.get(parameter)).toBe(first?.query.get(parameter));
});

/** Describes an object whose list of fields has these pages. Also returns the number of requests. */
async function describePages(toBody: (pageIndex: number) => unknown) {
  const declaration: DeclaredProvider = {
    name: 'things',
    displayName: 'Things',
    baseUrl: 'https://things.example',
    authSchemes: ['NONE'],
    api: {
      docsUrl: 'https://things.example/docs',
      checkedAgainst: 'nothing, because only tests use it',
      errors: { messages: ['/message'] },
      behavior: UNDOCUMENTED,
      objects: {
        things: {
          displayName: 'Things',
          list: { path: '/things', records: '/things', paging: { kind: 'none' } },
          fieldList: {
            path: '/fields',
            fields: '/fields',
            name: '/name',
            paging: { kind: 'cursor', parameter: { in: 'query', name: 'at' }, next: '/next' },
          },
        },
      },
    },
  };
  let pages = 0;
  await using server = await startProviderServer(() => {
    pages += 1;
    return { status: 200, body: toBody(pages - 1) };
  });
  const { describeObject } = createDeclarativeProvider(declaration).capabilities;
  if (!describeObject) throw new Error('The provider describes no objects');
  const failure = await catchFailure(describeObject(createPlainSession(server.url), 'things'));
  return { failure, pages };
}

test('fails for a list of fields whose cursors repeat', async () => {
  const { failure, pages } = await describePages((index) => ({
    fields: [{ name: 'a' }],
    next: `page ${index % 3}`,
  }));
  expect(failure.message).toBe('The pages of the list repeat themselves');
  expect(pages).toBeLessThan(12);
});

test('fails for a list of fields that does not end', async () => {
  const { failure, pages } = await describePages((index) => ({
    fields: [{ name: `field ${index}` }],
    next: `page ${index}`,
  }));
  expect(failure).toMatchObject({ kind: 'BAD_REQUEST' });
  expect(failure.message).toContain('more than 100 pages of fields of things');
  expect(pages).toBe(100);
});
