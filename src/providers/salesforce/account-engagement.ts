/** Account Engagement (once Pardot): marketing data beside an org, at an address of its own, for one business unit. */
import type { ProviderModule } from '../contract.ts';
import type {
  DeclarationInput,
  ObjectDeclarationInput,
} from '../declarative/declaration/declaration.ts';
import { declarativeConnector } from '../declarative/declarative-provider.ts';

const ROOT = '/api/v5/objects';
const DISPLAY_NAME = 'Account Engagement';

const KNOWN = { id: 'INT', createdAt: 'DATETIME', updatedAt: 'DATETIME' } as const;

/** In the order of ids, each page behind the last id: page tokens end after 100,000 records. */
function listed(
  displayName: string,
  name: string,
  known: NonNullable<ObjectDeclarationInput['known']>,
): ObjectDeclarationInput {
  return {
    displayName,
    changedAt: { at: '/updatedAt', format: 'isoOffset' },
    all: {
      path: `${ROOT}/${name}`,
      query: { orderBy: 'id' },
      records: '/values',
      size: { in: 'query', name: 'limit', max: 1_000 },
      fields: { in: 'query', name: 'fields', always: Object.keys(KNOWN) },
      paging: { kind: 'lastId', send: { in: 'query', name: 'idGreaterThan' } },
      since: { in: 'query', name: 'updatedAtAfterOrEqualTo', format: 'isoSeconds' },
      until: { in: 'query', name: 'updatedAtBeforeOrEqualTo', format: 'isoSeconds' },
    },
    known: { ...KNOWN, ...known },
  };
}

/** What is written is answered with the fields that are requested. */
function written(
  displayName: string,
  name: string,
  known: NonNullable<ObjectDeclarationInput['known']>,
): ObjectDeclarationInput {
  const query = { fields: ['id', ...Object.keys(known)].join(',') };
  const path = `${ROOT}/${name}`;
  return {
    ...listed(displayName, name, known),
    create: { method: 'POST', path, query, record: '' },
    update: { method: 'PATCH', path: `${path}/{id}`, query, record: '' },
    remove: { path: `${path}/{id}` },
  };
}

const records: DeclarationInput = {
  apiVersion: 'v5',
  docsUrl: 'https://developer.salesforce.com/docs/marketing/pardot/guide/version5overview.html',
  checkedAgainst: "the vendor's overview of version 5 and the queries of published connectors",
  errors: {
    messages: ['/message'],
    // All limits are told by a code: of requests at once (66), and of a day (122).
    rules: [
      { words: 'concurrent', kind: 'RATE_LIMITED' },
      { words: 'Daily API rate limit', kind: 'RATE_LIMITED' },
    ],
  },
  objects: {
    prospects: written('Prospects', 'prospects', {
      email: 'STRING',
      firstName: 'STRING',
      lastName: 'STRING',
      company: 'STRING',
    }),
    lists: written('Lists', 'lists', { name: 'STRING', description: 'STRING' }),
    campaigns: listed('Campaigns', 'campaigns', { name: 'STRING', cost: 'INT' }),
    opportunities: listed('Opportunities', 'opportunities', { name: 'STRING', value: 'FLOAT' }),
    'list-memberships': listed('List memberships', 'list-memberships', {
      listId: 'REFERENCE',
      prospectId: 'REFERENCE',
    }),
    'visitor-activities': listed('Visitor activities', 'visitor-activities', {
      type: 'INT',
      typeName: 'STRING',
      prospectId: 'REFERENCE',
    }),
  },
};

const connector = declarativeConnector({
  displayName: DISPLAY_NAME,
  // A business unit takes five requests at once.
  limits: { concurrency: 5, pageSize: 1_000, batchSize: 1 },
  records,
});

export function accountEngagement(name: string, baseUrl: string, suffix = ''): ProviderModule {
  return {
    name,
    displayName: `${DISPLAY_NAME}${suffix}`,
    baseUrl,
    inputs: [{ name: 'businessUnitId', displayName: 'Id of the business unit' }],
    headers: { 'Pardot-Business-Unit-Id': '{{businessUnitId}}' },
    connector,
  };
}
