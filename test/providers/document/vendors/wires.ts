/** The wire formats of vendors that only documents of this folder describe, from the vendors' documentation. */
import {
  createConnectionPage,
  GraphqlRefusal,
  serveGraphql,
} from '../../../support/wire/graphql-vendor.ts';
import { BadRequest, byCursor, byLink, byOffset } from '../../../support/wire/paging.ts';
import type { StoredRecord } from '../../../support/wire/vendor-store.ts';
import {
  BEARER,
  createLengthCheck,
  createPlainChange,
  isObject,
  readTime,
  TOKEN,
  type Values,
  type WireVendor,
} from '../../../support/wire/wire-format.ts';

/** Contacts have their own members, and attributes whose names are in upper case. */
function readContact(body: unknown): Values {
  if (!isObject(body)) throw new BadRequest('The body must be an object');
  const { attributes = {}, ...members } = body;
  if ('FIRSTNAME' in members) throw new BadRequest('Unknown member FIRSTNAME');
  return { ...members, ...(isObject(attributes) && attributes) };
}

export const brevo: WireVendor = {
  objectName: 'contacts',
  textField: 'FIRSTNAME',
  requiredValues: { email: 'ada@acme.example' },
  missingId: '999999',
  fixture: {
    createId: (n) => n,
    headers: { 'api-key': TOKEN },
    toErrorBody: (_status, message) => ({ code: 'invalid_parameter', message }),
    findValueError: createLengthCheck('FIRSTNAME'),
    object: {
      toVendorRecord: ({ id, changedAt, values: { email, ...attributes } }) => ({
        id,
        email,
        modifiedAt: changedAt.toISOString(),
        attributes,
      }),
      lists: [
        {
          path: '/v3/contacts',
          order: 'created',
          filter: (records, { query }) => {
            const since = readTime(query, 'modifiedSince');
            return records.filter(({ changedAt }) => !since || changedAt > since);
          },
          page: byOffset({ name: 'limit', fallback: 50, max: 1000 }, 'offset'),
          toBody: (contacts, { total }) => ({ contacts, count: total }),
        },
      ],
      fetchOne: { path: '/v3/contacts/:id', toBody: (record) => record },
      create: {
        ...createPlainChange('POST', '/v3/contacts', 201),
        readValues: readContact,
        toBody: ({ id }) => ({ id }),
      },
      update: {
        ...createPlainChange('PUT', '/v3/contacts/:id', 204),
        readValues: readContact,
        toBody: () => undefined,
      },
      remove: { method: 'DELETE', path: '/v3/contacts/:id', status: 204 },
      fields: {
        path: '/v3/contacts/attributes',
        body: { attributes: [{ name: 'FIRSTNAME', category: 'normal', type: 'text' }] },
      },
    },
  },
};

export const webex: WireVendor = {
  objectName: 'rooms',
  textField: 'title',
  missingId: 'cm9vbQ',
  lacksChangeTimes: true,
  fixture: {
    createId: (n) => `Y2lzY29zcGFyazovL3VzL1JPT00v${n}`,
    headers: BEARER,
    toErrorBody: (_status, message) => ({
      message,
      errors: [{ description: message }],
      trackingId: 'R_1',
    }),
    findValueError: createLengthCheck('title'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        id,
        ...values,
        type: 'group',
        lastActivity: changedAt.toISOString(),
      }),
      lists: [
        {
          path: '/rooms',
          order: 'created',
          page: byLink(byCursor({ name: 'max', fallback: 100, max: 1000 }, 'cursor'), 'cursor'),
          toBody: (items) => ({ items }),
        },
      ],
      fetchOne: { path: '/rooms/:id', toBody: (record) => record },
      create: createPlainChange('POST', '/rooms', 200),
      update: createPlainChange('PUT', '/rooms/:id', 200),
      remove: { method: 'DELETE', path: '/rooms/:id', status: 204 },
    },
  },
};

const toClient = ({ id, changedAt, values }: StoredRecord): Values => ({
  id,
  ...values,
  updatedAt: changedAt.toISOString(),
});

function changedAfter(filter: unknown, { changedAt }: StoredRecord): boolean {
  const { updatedAt } = isObject(filter) ? filter : {};
  const { after } = isObject(updatedAt) ? updatedAt : {};
  return after === undefined || changedAt > new Date(String(after));
}

const findClientError = createLengthCheck('firstName');

const serveClients = serveGraphql('/', ({ name, variables }, store, now) => {
  const input = isObject(variables.input) ? variables.input : {};
  const record = store.find(String(variables.id ?? variables.clientId));
  const problem = findClientError(input);
  const refusal = { client: null, userErrors: [{ message: problem, path: ['firstName'] }] };
  switch (name) {
    case 'clients': {
      const records = store.records.filter((client) => changedAfter(variables.filter, client));
      return createConnectionPage(records.map(toClient), variables, 100);
    }
    case 'client':
      return record ? toClient(record) : null;
    case 'clientCreate':
      if (problem) return refusal;
      return { client: toClient(store.create(input, now)), userErrors: [] };
    case 'clientEdit':
      if (!record) return { client: null, userErrors: [{ message: 'Not found', path: [] }] };
      if (problem) return refusal;
      Object.assign(record.values, input);
      return { client: toClient(record), userErrors: [] };
    default:
      throw new GraphqlRefusal(`Cannot query field ${name}`);
  }
});

export const jobber: WireVendor = {
  objectName: 'clients',
  textField: 'firstName',
  missingId: 'Z2lkOi8vSm9iYmVyL0NsaWVudC85OTk',
  fixture: {
    createId: (n) => `Z2lkOi8vSm9iYmVyL0NsaWVudC8${n}`,
    headers: BEARER,
    invalidStatus: 200,
    toErrorBody: (_status, message) => ({ errors: [{ message }] }),
    findValueError: () => null,
    override: (request, store, now) =>
      request.headers['x-jobber-graphql-version'] === '2025-01-20'
        ? serveClients(request, store, now)
        : { status: 400, body: { errors: [{ message: 'The version is missing' }] } },
    object: { toVendorRecord: toClient, lists: [] },
  },
};
