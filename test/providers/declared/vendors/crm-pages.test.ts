/** Tests pages of CRMs that permissions shorten, and lists with limits of depth or length. */
import { expect, test } from 'vitest';
import type { ProviderResponse, ProviderSession } from '../../../../src/providers/contract.ts';
import {
  createDeclarativeProvider,
  type DeclaredProvider,
} from '../../../../src/providers/declarative/declarative-provider.ts';
import { attio } from '../../../../src/providers/declared/crm/attio.ts';
import { close } from '../../../../src/providers/declared/crm/close.ts';
import { dynamicsCrm } from '../../../../src/providers/declared/crm/dynamics-crm.ts';
import { outreach } from '../../../../src/providers/declared/crm/outreach.ts';
import { pipedrive } from '../../../../src/providers/declared/crm/pipedrive.ts';
import type { PageRead } from '../../../../src/providers/moving-records.ts';
import { createMask } from '../../../../src/work/secret-mask.ts';
import { createPlainSession } from '../../../support/providers/provider-session.ts';
import { BadRequest, type Page } from '../../../support/wire/paging.ts';
import { startVendorServer, type VendorFixture } from '../../../support/wire/vendor-server.ts';
import { attio as attioWire } from '../../../support/wire/vendors/crm/attio-wire.ts';
import { close as closeWire } from '../../../support/wire/vendors/crm/close-wire.ts';
import { outreach as outreachWire } from '../../../support/wire/vendors/crm/outreach-wire.ts';
import { BEARER } from '../../../support/wire/wire-format.ts';
import { atMinute, catchFailure } from '../../contract-subject.ts';

function getReadPage(declaration: DeclaredProvider) {
  const { capabilities } = createDeclarativeProvider(declaration);
  if (!capabilities.readPage) throw new Error('The provider reads no pages.');
  return capabilities.readPage;
}

/** Returns the ids of all pages. */
async function readIds(
  declaration: DeclaredProvider,
  session: ProviderSession,
  read: PageRead,
): Promise<string[]> {
  const readPage = getReadPage(declaration);
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage(session, { ...read, cursor });
    ids.push(...page.records.map(({ id }) => id));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return ids;
}

function changePages(fixture: VendorFixture, change: (page: Page) => Page): VendorFixture {
  const lists = fixture.object.lists.map((list) => ({ ...list, page: change(list.page) }));
  return { ...fixture, object: { ...fixture.object, lists } };
}

const unique = (ids: string[]) => [...new Set(ids)].toSorted();

test('Attio: continues after a page that permissions have shortened', async () => {
  const hideSome: (page: Page) => Page =
    (page) =>
    (...request) => {
      const slice = page(...request);
      return { ...slice, records: slice.records.filter(({ values }) => values.name !== 'hidden') };
    };
  await using server = await startVendorServer(changePages(attioWire.fixture, hideSome));
  const ids = Array.from({ length: 25 }, (_, n) => {
    const name = n === 3 ? 'hidden' : 'visible';
    return String(server.store.create({ name }, atMinute(0)).id);
  });
  const read = { objectName: 'companies', fields: ['name'], pageSize: 10 };
  const visibleIds = await readIds(attio, createPlainSession(server.url, BEARER), read);
  expect(unique(visibleIds)).toEqual(ids.filter((_, n) => n !== 3).toSorted());
});

test('Pipedrive: continues after a page of leads that permissions have shortened', async () => {
  const leads = Array.from({ length: 25 }, (_, n) => ({
    id: `lead ${n}`,
    update_time: atMinute(n).toISOString(),
  }));
  const session: ProviderSession = {
    baseUrl: 'https://api.pipedrive.com',
    findMetadata: () => null,
    now: () => atMinute(60),
    send: async ({ query = {} }): Promise<ProviderResponse> => {
      const since = Date.parse(String(query.updated_since ?? '1970-01-01T00:00:00Z'));
      const start = Number(query.start ?? 0);
      const page = leads
        .filter(({ update_time }) => Date.parse(update_time) > since)
        .slice(start, start + Number(query.limit))
        .filter(({ id }) => id !== 'lead 3');
      return {
        status: 200,
        headers: {},
        body: { success: true, data: page },
        mask: createMask([]),
      };
    },
  };
  const read = { objectName: 'leads', fields: ['id'], pageSize: 10 };
  const ids = await readIds(pipedrive, session, read);
  const visibleIds = leads.map(({ id }) => id).filter((id) => id !== 'lead 3');
  expect(unique(ids)).toEqual(visibleIds.toSorted());
});

/** Refuses pages after the first 20 records. */
const limitDepth: (page: Page) => Page = (page) => (records, request, url) => {
  const position = request.query.get('page[after]') ?? request.query.get('_skip') ?? '0';
  if (Number(position.replace('c_', '')) >= 20) throw new BadRequest('The position is too large');
  return page(records, request, url);
};

test('Outreach: reads more records than a position may count', async () => {
  await using server = await startVendorServer(changePages(outreachWire.fixture, limitDepth));
  const ids = Array.from({ length: 55 }, (_, n) =>
    String(server.store.create({ firstName: 'Ada' }, atMinute(n)).id),
  );
  const read = { objectName: 'prospects', fields: ['firstName'], pageSize: 10 };
  const session = createPlainSession(server.url, {
    ...BEARER,
    'content-type': 'application/vnd.api+json',
  });
  expect(await readIds(outreach, session, read)).toEqual(ids);
});

test('Close: fails with the reason if an offset is too large, and does not restart', async () => {
  await using server = await startVendorServer(changePages(closeWire.fixture, limitDepth));
  for (let n = 0; n < 30; n += 1) server.store.create({ name: 'Ada' }, atMinute(n));
  const read = { objectName: 'lead', fields: ['name'], pageSize: 10 };
  const session = createPlainSession(server.url, BEARER);
  const failure = await catchFailure(readIds(close, session, read));
  expect(failure).toMatchObject({ kind: 'BAD_REQUEST', status: 400 });
  expect(failure.message).toContain('The position is too large');
});

/** Returns the query of the first page of Dynamics contacts. */
async function captureQuery(fields: string[]) {
  let query: Record<string, unknown> | undefined;
  const session: ProviderSession = {
    baseUrl: 'https://org.api.crm4.dynamics.com/api/data',
    findMetadata: () => null,
    now: () => atMinute(0),
    send: async (request) => {
      query = request.query;
      return { status: 200, headers: {}, body: { value: [] }, mask: createMask([]) };
    },
  };
  await getReadPage(dynamicsCrm)(session, { objectName: 'contacts', fields, pageSize: 10 });
  return query;
}

test('Dynamics: selects all columns if their names are too long for a URL', async () => {
  const names = Array.from({ length: 1_000 }, (_, n) => `new_a_column_with_a_long_name_${n}`);
  expect(await captureQuery(names)).not.toHaveProperty('$select');
  const { $select } = (await captureQuery(names.slice(0, 500))) ?? {};
  expect(String($select).split(',')).toHaveLength(502);
});

test('Dynamics: orders records uniquely, so that pages are stable', async () => {
  expect(await captureQuery(['lastname'])).toMatchObject({
    $orderby: 'modifiedon asc,contactid asc',
  });
});
