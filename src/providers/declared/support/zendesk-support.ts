import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

function object(
  displayName: string,
  { plural, singular, changed }: { plural: string; singular: string; changed: string },
): ObjectDeclarationInput {
  const path = `/api/v2/${plural}`;
  return {
    displayName,
    changedAt: { at: '/updated_at', format: 'isoSeconds' },
    nested: [
      singular === 'ticket'
        ? {
            at: '/custom_fields',
            names: /^\d+$/,
            entries: { name: '/id', value: '/value', writes: 'list' },
          }
        : { at: `/${singular}_fields` },
    ],
    all: {
      path,
      records: `/${plural}`,
      size: { in: 'query', name: 'page[size]', max: 100 },
      paging: {
        kind: 'cursor',
        send: { in: 'query', name: 'page[after]' },
        next: '/meta/after_cursor',
        more: '/meta/has_more',
      },
    },
    // Incremental exports: they alone filter by the time of change, and hold deleted records too.
    changed: {
      path: `/api/v2/incremental/${plural}${changed}`,
      records: `/${plural}`,
      size: { in: 'query', name: 'per_page', max: 1000 },
      paging:
        changed === ''
          ? { kind: 'nextUrl', next: '/next_page', ends: '/end_of_stream' }
          : {
              kind: 'cursor',
              send: { in: 'query', name: 'cursor' },
              next: '/after_cursor',
              ends: '/end_of_stream',
            },
      since: {
        in: 'query',
        name: 'start_time',
        format: 'unixSeconds',
        isRequired: true,
        isFirstOnly: true,
        // Exports take no time of the last minute.
        marginMs: 60_000,
      },
    },
    byIds: {
      path: `${path}/show_many`,
      ids: { in: 'query', name: 'ids', max: 100 },
      records: `/${plural}`,
    },
    count: { path: `${path}/count`, at: '/count/value' },
    create: { method: 'POST', path, wrap: `/${singular}`, record: `/${singular}` },
    update: { method: 'PUT', path: `${path}/{id}`, wrap: `/${singular}`, record: `/${singular}` },
    remove: { path: `${path}/{id}` },
    fields: {
      path: `/api/v2/${singular}_fields`,
      fields: `/${singular}_fields`,
      name: singular === 'ticket' ? '/id' : '/key',
      displayName: '/title',
      type: '/type',
      isRequired: '/required',
      options: { at: '/custom_field_options', value: '/value', displayValue: '/name' },
      types: {
        text: 'STRING',
        textarea: 'STRING',
        subject: 'STRING',
        description: 'STRING',
        regexp: 'STRING',
        integer: 'INT',
        decimal: 'FLOAT',
        date: 'DATE',
        checkbox: 'BOOLEAN',
        tagger: 'SINGLE_SELECT',
        dropdown: 'SINGLE_SELECT',
        multiselect: 'MULTI_SELECT',
      },
    },
  };
}

export const zendeskSupport: DeclaredProvider = {
  name: 'zendeskSupport',
  displayName: 'Zendesk Support',
  baseUrl: 'https://{{workspace}}.zendesk.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://{{workspace}}.zendesk.com/oauth/authorizations/new',
    tokenUrl: 'https://{{workspace}}.zendesk.com/oauth/tokens',
    explicitScopesRequired: true,
    tokenFields: { scopes: 'scope' },
  },
  workspaceRequired: true,
  records: {
    apiVersion: 'v2',
    docsUrl: 'https://developer.zendesk.com/api-reference/',
    checkedAgainst: "the vendor's published OpenAPI description (2024-08-26) and export guide",
    errors: { messages: ['/details', '/description', '/error/message', '/error'] },
    objects: {
      tickets: object('Tickets', { plural: 'tickets', singular: 'ticket', changed: '/cursor' }),
      users: object('Users', { plural: 'users', singular: 'user', changed: '/cursor' }),
      organizations: object('Organizations', {
        plural: 'organizations',
        singular: 'organization',
        changed: '',
      }),
    },
  },
};
