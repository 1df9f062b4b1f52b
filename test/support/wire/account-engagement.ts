/** Account Engagement's API of version 5, from the vendor's overview: fields are named, ids order, each request has its unit. */
import { BadRequest, byLastId } from './paging.ts';
import { BEARER, membersOf, timeIn, tooLong, type WireVendor, within } from './terms.ts';
import type { VendorFixture, WireChange } from './vendor-server.ts';

const PATH = '/api/v5/objects/prospects';

function change(method: string, path: string, status: number): WireChange {
  return {
    method,
    path,
    status,
    objection: ({ query }) => (query.has('fields') ? null : 'fields are needed'),
    valuesIn: membersOf(null),
    answer: (record) => record,
  };
}

const fixture: VendorFixture = {
  idOf: (n) => n,
  headers: { ...BEARER, 'Pardot-Business-Unit-Id': '0UvA' },
  contentType: 'application/json',
  invalidStatus: 400,
  refusal: (status, message) => ({ code: status === 401 ? 184 : 71, message }),
  problemWith: tooLong('firstName'),
  object: {
    show: ({ id, changedAt, values }) => ({
      id,
      ...values,
      updatedAt: `${changedAt.toISOString().slice(0, 19)}+00:00`,
    }),
    lists: [
      {
        path: PATH,
        order: 'made',
        filter: (records, { query }) => {
          if (!query.has('fields')) throw new BadRequest('fields are needed');
          if (query.get('orderBy') !== 'id') throw new BadRequest('idGreaterThan needs that order');
          const since = timeIn(query, 'updatedAtAfterOrEqualTo');
          return within(records, since, timeIn(query, 'updatedAtBeforeOrEqualTo'));
        },
        page: byLastId({ name: 'limit', fallback: 200, max: 1_000 }, 'idGreaterThan'),
        answer: (values, { next }) => ({
          nextPageToken: next,
          nextPageUrl: next && `https://pi.pardot.com${PATH}?fields=id&nextPageToken=${next}`,
          values,
        }),
      },
    ],
    create: change('POST', PATH, 201),
    update: change('PATCH', `${PATH}/:id`, 200),
    remove: { method: 'DELETE', path: `${PATH}/:id`, status: 204 },
  },
};

export const accountEngagement: WireVendor = {
  objectName: 'prospects',
  textField: 'firstName',
  missingId: '999999',
  facts: { businessUnitId: '0UvA' },
  fixture,
};
