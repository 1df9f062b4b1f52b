import { BadRequest, byPage } from '../../paging.ts';
import type { WireChange } from '../../vendor-server.ts';
import {
  BEARER,
  createLengthCheck,
  isObject,
  type Values,
  type WireVendor,
} from '../../wire-format.ts';

const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const CONTACTS_PATH = '/api.xro/2.0/Contacts';

function readContacts(body: unknown): Values[] {
  const contacts = isObject(body) ? body.Contacts : undefined;
  if (!Array.isArray(contacts)) throw new BadRequest('Contacts must be a list');
  return contacts;
}

const singleContact: Pick<WireChange, 'readValues' | 'toBody' | 'status'> = {
  status: 200,
  readValues: (body) => readContacts(body)[0] ?? {},
  toBody: (contact) => ({ Id: '…', Status: 'OK', Contacts: [contact] }),
};

/** Xero writes times as .NET does, filters by a header, and creates by a PUT of a list. */
export const xero: WireVendor = {
  objectName: 'Contacts',
  textField: 'Name',
  missingId: '00000000-0000-0000-0000-999999999999',
  metadata: { tenantId: 'tenant-1' },
  fixture: {
    createId: (n) => `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`,
    headers: BEARER,
    toErrorBody: (status, message) =>
      status === 400
        ? {
            ErrorNumber: 10,
            Type: 'ValidationException',
            Message: 'A validation exception occurred',
            Elements: [{ ValidationErrors: [{ Message: message }] }],
          }
        : { Title: 'Refused', Detail: message, Status: status },
    findValueError: createLengthCheck('Name'),
    object: {
      toVendorRecord: ({ id, changedAt, values }) => ({
        ContactID: id,
        ...values,
        UpdatedDateUTC: `/Date(${changedAt.getTime()}+0000)/`,
        HasErrors: false,
      }),
      lists: [
        {
          path: CONTACTS_PATH,
          order: 'oldestChange',
          filter: (records, { headers }) => {
            if (headers['xero-tenant-id'] !== 'tenant-1')
              throw new BadRequest('xero-tenant-id is wrong');
            const since = headers['if-modified-since'];
            if (since === undefined) return records;
            if (!UTC_TIME.test(since)) throw new BadRequest(`${since} is not a UTC time`);
            return records.filter(({ changedAt }) => changedAt > new Date(since));
          },
          page: byPage({ name: 'pageSize', fallback: 100, max: 1000 }, 'page'),
          toBody: (Contacts, { next, total }) => ({
            pagination: {
              page: next === null ? 1 : Number(next) - 1,
              pageCount: next === null ? 1 : Number(next),
              itemCount: total,
            },
            Contacts,
          }),
        },
      ],
      fetchOne: { path: `${CONTACTS_PATH}/:id`, toBody: (contact) => ({ Contacts: [contact] }) },
      create: { method: 'PUT', path: CONTACTS_PATH, ...singleContact },
      update: { method: 'POST', path: `${CONTACTS_PATH}/:id`, ...singleContact },
    },
  },
};
