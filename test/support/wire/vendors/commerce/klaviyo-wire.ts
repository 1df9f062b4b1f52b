import { BadRequest, byCursor, byNextUrl } from '../../paging.ts';
import {
  BEARER,
  createLengthCheck,
  createResourceReader,
  type WireVendor,
} from '../../wire-format.ts';

const FILTER = /^greater-than\(updated,(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)\)$/;

export const klaviyo: WireVendor = {
  objectName: 'profiles',
  textField: 'first_name',
  missingId: '01NONE',
  fixture: {
    createId: (n) => `01GDDKASAP8TKDDA2GRZ${n}`,
    headers: { ...BEARER },
    contentType: 'application/vnd.api+json',
    toErrorBody: (status, detail) => ({
      errors: [
        {
          id: 'e1',
          status,
          code: 'invalid',
          title: 'Invalid input.',
          detail,
          source: { pointer: '/data/attributes/first_name' },
        },
      ],
    }),
    findValueError: createLengthCheck('first_name'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        type: 'profile',
        id,
        attributes: {
          ...values,
          properties: {},
          updated: changedAt.toISOString().replace('Z', '+00:00'),
        },
      }),
      lists: [
        {
          path: '/api/profiles',
          order: 'oldestChange',
          filter: (records, { query, headers }) => {
            if (!headers.revision) throw new BadRequest('revision is missing');
            const filter = query.get('filter');
            if (filter === null) return records;
            const time = FILTER.exec(filter)?.[1];
            if (!time) throw new BadRequest(`Invalid filter: ${filter}`);
            return records.filter(({ changedAt }) => changedAt > new Date(time));
          },
          page: byNextUrl(
            byCursor({ name: 'page[size]', fallback: 20, max: 100 }, 'page[cursor]'),
            'page[cursor]',
          ),
          toBody: (data, { next }) => ({ data, links: { self: '…', next, prev: null } }),
        },
      ],
      fetchOne: { path: '/api/profiles/:id', toBody: (data) => ({ data }) },
      create: {
        method: 'POST',
        path: '/api/profiles',
        status: 201,
        readValues: createResourceReader('profile', false),
        toBody: (data) => ({ data }),
      },
      update: {
        method: 'PATCH',
        path: '/api/profiles/:id',
        status: 200,
        readValues: createResourceReader('profile', true),
        toBody: (data) => ({ data }),
      },
    },
  },
};
