/**
 * Version 5 of the Account Engagement API, from the vendor's overview. Requests name the fields, and lists
 * are in the order of IDs. Each request names its business unit.
 */
import { BadRequest, byLastId } from './paging.ts';
import type { VendorFixture, WireChange } from './vendor-server.ts';
import {
  BEARER,
  createLengthCheck,
  readMembers,
  readTime,
  selectChanged,
  type WireVendor,
} from './wire-format.ts';

const PROSPECTS_PATH = '/api/v5/objects/prospects';

function createChange(method: string, path: string, status: number): WireChange {
  return {
    method,
    path,
    status,
    findRequestError: ({ query }) => (query.has('fields') ? null : 'fields are needed'),
    readValues: readMembers(null),
    toBody: (record) => record,
  };
}

const fixture: VendorFixture = {
  createId: (n) => n,
  headers: { ...BEARER, 'Pardot-Business-Unit-Id': '0UvA' },
  toErrorBody: (status, message) => ({ code: status === 401 ? 184 : 71, message }),
  findValueError: createLengthCheck('firstName'),
  object: {
    toVendorRecord: ({ id, changedAt, values }) => ({
      id,
      ...values,
      updatedAt: `${changedAt.toISOString().slice(0, 19)}+00:00`,
    }),
    lists: [
      {
        path: PROSPECTS_PATH,
        order: 'created',
        filter: (records, { query }) => {
          if (!query.has('fields')) throw new BadRequest('fields are needed');
          if (query.get('orderBy') !== 'id') throw new BadRequest('idGreaterThan needs that order');
          const since = readTime(query, 'updatedAtAfterOrEqualTo');
          return selectChanged(records, since, readTime(query, 'updatedAtBeforeOrEqualTo'));
        },
        page: (records, request, url) => {
          const query = new URLSearchParams(request.query);
          const lastId = Number(query.get('idGreaterThan') ?? 0);
          query.delete('idGreaterThan');
          const page = byLastId({ name: 'limit', fallback: 200, max: 1_000 }, 'idGreaterThan');
          const laterRecords = records.filter(({ id }) => Number(id) > lastId);
          return page(laterRecords, { ...request, query }, url);
        },
        toBody: (values, { next }) => ({
          nextPageToken: next,
          nextPageUrl:
            next && `https://pi.pardot.com${PROSPECTS_PATH}?fields=id&nextPageToken=${next}`,
          values,
        }),
      },
    ],
    create: createChange('POST', PROSPECTS_PATH, 201),
    update: createChange('PATCH', `${PROSPECTS_PATH}/:id`, 200),
    remove: { method: 'DELETE', path: `${PROSPECTS_PATH}/:id`, status: 204 },
  },
};

export const accountEngagement: WireVendor = {
  objectName: 'prospects',
  textField: 'firstName',
  missingId: '999999',
  metadata: { businessUnitId: '0UvA' },
  fixture,
};
