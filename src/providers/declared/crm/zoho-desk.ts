/** Zoho Desk: the help desk of one organization, with its own base URL. It is a module of Zoho. */
import type {
  DeclarationInput,
  ObjectDeclarationInput,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredModule } from '../../declarative/declarative-provider.ts';

/** The hosts of the data centers, each of which belongs to an accounts server. */
export const DESK_HOSTS = [
  'desk.zoho.com',
  'desk.zoho.eu',
  'desk.zoho.in',
  'desk.zoho.com.au',
  'desk.zoho.jp',
  'desk.zohocloud.ca',
  'desk.zoho.sa',
  'desk.zoho.com.cn',
  'desk.zoho.uk',
];

/** Declares a list. It has no filter by the time of change, and tickets do not show that time. */
function declareReadOnlyObject(
  displayName: string,
  name: string,
  standardFields: NonNullable<ObjectDeclarationInput['standardFields']>,
): ObjectDeclarationInput {
  const path = `/api/v1/${name}`;
  return {
    displayName,
    list: {
      path,
      records: '/data',
      pageSize: { in: 'query', name: 'limit', max: 100 },
      paging: { kind: 'offset', parameter: { in: 'query', name: 'from' } },
    },
    byIds: { path: `${path}/{id}`, records: '' },
    standardFields: { id: 'STRING', ...standardFields },
  };
}

function declareWritableObject(
  displayName: string,
  name: string,
  standardFields: NonNullable<ObjectDeclarationInput['standardFields']>,
): ObjectDeclarationInput {
  const object = declareReadOnlyObject(displayName, name, standardFields);
  const path = `/api/v1/${name}`;
  return {
    ...object,
    // New records are at the end, so they shift no other record.
    list: { ...object.list, query: { sortBy: 'createdTime' } },
    create: { method: 'POST', path, responseRecord: '' },
    update: { method: 'PATCH', path: `${path}/{id}`, responseRecord: '' },
  };
}

export const zohoDeskApi: DeclarationInput = {
  apiVersion: 'v1',
  docsUrl: 'https://desk.zoho.com/DeskAPIDocument',
  checkedAgainst: "the vendor's API documentation, and the queries of published connectors",
  errors: {
    messages: ['/errors', '/message'],
    rules: [{ contains: 'SCOPE_MISMATCH', kind: 'FORBIDDEN' }],
  },
  behavior: {
    shortPage: 'notDocumented',
    timeFilter: 'none',
    visibility: 'notDocumented',
    expiredCursor: { never: 'The next page is a number of records.' },
    depthLimit: 'notDocumented',
    // Requests name no fields.
    fieldsMax: 'none',
    urlBytesMax: 'none',
    nestedLists: 'notDocumented',
    rateLimits: 'status429',
  },
  objects: {
    tickets: declareWritableObject('Tickets', 'tickets', {
      subject: 'STRING',
      status: 'STRING',
      email: 'STRING',
      departmentId: 'REFERENCE',
      contactId: 'REFERENCE',
      createdTime: 'DATETIME',
    }),
    contacts: declareWritableObject('Contacts', 'contacts', {
      lastName: 'STRING',
      firstName: 'STRING',
      email: 'STRING',
      phone: 'STRING',
    }),
    departments: declareReadOnlyObject('Departments', 'departments', {
      name: 'STRING',
      isEnabled: 'BOOLEAN',
      creatorId: 'REFERENCE',
    }),
  },
};

export const zohoDesk: DeclaredModule = {
  name: 'desk',
  displayName: 'Zoho Desk',
  baseUrl: 'https://{{zoho_desk_domain}}',
  inputs: [
    { name: 'zoho_desk_domain', displayName: 'Host of Zoho Desk, such as desk.zoho.eu' },
    { name: 'zoho_desk_org_id', displayName: 'Id of the organization in Zoho Desk' },
  ],
  headers: { orgId: '{{zoho_desk_org_id}}' },
  api: zohoDeskApi,
};
