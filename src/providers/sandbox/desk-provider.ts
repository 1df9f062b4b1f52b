/** The provider of the sandbox's help desk. Its people have another shape than the CRM's contacts. */
import { IMMEDIATE } from '../behavior.ts';
import type { Provider } from '../contract.ts';
import {
  createDeclarativeProvider,
  type DeclaredProvider,
} from '../declarative/declarative-provider.ts';

const PATH = '/people';

const api: DeclaredProvider['api'] = {
  docsUrl: 'http://localhost/',
  checkedAgainst: 'src/sandbox/desk/desk-routes.ts',
  errors: { messages: ['/errors'] },
  behavior: {
    shortPage: 'last',
    timeFilter: {
      precision: 'format',
      zone: 'utc',
      bounds: 'inclusive',
      column: 'changedAt',
    },
    visibility: IMMEDIATE,
    expiredCursor: { never: 'Pages start after a position in the table.' },
    depthLimit: 'none',
    fieldsMax: 'none',
    urlBytesMax: 'none',
    nestedLists: 'complete',
    rateLimits: 'status429',
  },
  objects: {
    people: {
      displayName: 'People',
      id: '/key',
      changedAt: { at: '/changed', format: 'unixMilliseconds' },
      nestedFields: [
        { at: '/name', names: { only: ['given', 'family'] } },
        { at: '/contact', names: { only: ['mail', 'mobile'] } },
      ],
      list: {
        path: PATH,
        records: '/people',
        pageSize: { in: 'query', name: 'per_page', max: 100 },
        paging: { kind: 'nextUrl', next: '/links/next' },
        since: { in: 'query', name: 'changed_since', format: 'unixMilliseconds' },
        until: { in: 'query', name: 'changed_until', format: 'unixMilliseconds' },
        equalityFilter: { in: 'query', names: { only: ['mail'] }, max: 1 },
      },
      byIds: { path: `${PATH}/{id}`, records: '/person' },
      create: { method: 'POST', path: PATH, bodyRecord: '/person', responseRecord: '/person' },
      update: {
        method: 'PATCH',
        path: `${PATH}/{id}`,
        bodyRecord: '/person',
        responseRecord: '/person',
      },
      remove: { path: `${PATH}/{id}` },
      standardFields: {
        key: 'STRING',
        given: 'STRING',
        family: 'STRING',
        mail: 'STRING',
        mobile: 'STRING',
        newsletter: 'BOOLEAN',
        changed: 'INT',
      },
    },
  },
};

/** `address` returns the current URL of the sandbox, without a trailing slash. */
export function createSandboxDeskProvider(address: () => string): Provider {
  const provider = createDeclarativeProvider({
    name: 'sandboxDesk',
    displayName: 'Sandbox Desk',
    baseUrl: `${address()}/desk`,
    authSchemes: ['API_KEY'],
    apiKey: { in: 'header', name: 'X-Api-Key' },
    healthCheck: PATH,
    // 5% of the sandbox's default rate, as for the CRM.
    limits: { requestsPerSecond: 1_000 },
    api,
  });
  return {
    ...provider,
    get baseUrl() {
      return `${address()}/desk`;
    },
    get docsUrl() {
      return `${address()}/`;
    },
  };
}
