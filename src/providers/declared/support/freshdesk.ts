/** Freshdesk: a REST API with Link headers. */
import type {
  ListInput,
  ObjectDeclarationInput,
} from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

function declareObject(
  displayName: string,
  name: string,
  { list, fieldListName }: { list?: Partial<ListInput>; fieldListName?: string } = {},
): ObjectDeclarationInput {
  const path = `/api/v2/${name}`;
  return {
    displayName,
    changedAt: { at: '/updated_at', format: 'isoSeconds' },
    nestedFields: [{ at: '/custom_fields', names: { prefix: 'cf_' } }],
    list: {
      path,
      records: '',
      pageSize: { in: 'query', name: 'per_page', max: 100 },
      paging: { kind: 'link' },
      ...list,
    },
    byIds: { path: `${path}/{id}`, records: '' },
    create: { method: 'POST', path, responseRecord: '' },
    update: { method: 'PUT', path: `${path}/{id}`, responseRecord: '' },
    remove: { path: `${path}/{id}` },
    ...(fieldListName && {
      fieldList: {
        path: `/api/v2/${fieldListName}`,
        fields: '',
        name: '/name',
        displayName: '/label',
        type: '/type',
        isRequired: '/required_for_agents',
        types: {
          custom_text: 'STRING',
          custom_paragraph: 'STRING',
          custom_number: 'INT',
          custom_decimal: 'FLOAT',
          custom_checkbox: 'BOOLEAN',
          custom_date: 'DATE',
          default_subject: 'STRING',
          default_description: 'STRING',
          default_name: 'STRING',
          default_email: 'STRING',
        },
      },
    }),
  };
}

export const freshdesk: DeclaredProvider = {
  name: 'freshdesk',
  displayName: 'Freshdesk',
  baseUrl: 'https://{{workspace}}.freshdesk.com',
  authSchemes: ['BASIC'],
  healthCheck: '/api/v2/agents/me',
  workspaceRequired: true,
  workspaceDisplayName: 'Domain',
  api: {
    apiVersion: 'v2',
    docsUrl: 'https://developers.freshdesk.com/api/',
    checkedAgainst:
      "the requests and responses of published connectors and their issues, and the vendor's API reference",
    notes: [
      'The user name is the API key. Any password is accepted.',
      'Events are not supported: they require automation rules at the vendor, whose requests are not signed.',
    ],
    errors: { messages: ['/errors', '/description', '/message'] },
    behavior: {
      shortPage: 'notDocumented',
      timeFilter: {
        precision: 'format',
        zone: 'utc',
        bounds: 'notDocumented',
        column: 'changedAt',
      },
      visibility: 'notDocumented',
      expiredCursor: { never: 'Pages are numbered.' },
      depthLimit: 'notDocumented',
      fieldsMax: 'none',
      urlBytesMax: 'notDocumented',
      nestedLists: 'notDocumented',
      rateLimits: 'status429',
    },
    objects: {
      // Without `updated_since`, the vendor lists only tickets of the last 30 days, and in any case at most 300 pages.
      tickets: declareObject('Tickets', 'tickets', {
        fieldListName: 'ticket_fields',
        list: {
          // Without `include`, the list lacks the descriptions.
          query: { order_by: 'updated_at', order_type: 'asc', include: 'description' },
          since: { in: 'query', name: 'updated_since', format: 'isoSeconds', isRequired: true },
          isKeysetPaged: true,
          behavior: { depthLimit: { records: 30_000, beyond: 'keyset' } },
        },
      }),
      contacts: declareObject('Contacts', 'contacts', {
        fieldListName: 'contact_fields',
        list: { since: { in: 'query', name: '_updated_since', format: 'isoSeconds' } },
      }),
      companies: declareObject('Companies', 'companies', { fieldListName: 'company_fields' }),
      agents: declareObject('Agents', 'agents'),
      groups: declareObject('Groups', 'groups'),
    },
  },
};
