/** Account Engagement, formerly Pardot: marketing data of one business unit, with its own base URL. */
import { HOUR_MS } from '../../work/durations.ts';
import type { ProviderModule } from '../contract.ts';
import type {
  DeclarationInput,
  ObjectDeclarationInput,
} from '../declarative/declaration/declaration.ts';
import { createDeclarativeConnector } from '../declarative/declarative-provider.ts';

const ROOT = '/api/v5/objects';
const DISPLAY_NAME = 'Account Engagement';

const COMMON_FIELDS = { id: 'INT', createdAt: 'DATETIME', updatedAt: 'DATETIME' } as const;

/**
 * Declares a read-only object. Pages are requested by the last id, because page tokens return at most 100,000 records.
 */
function declareReadOnlyObject(
  displayName: string,
  name: string,
  standardFields: NonNullable<ObjectDeclarationInput['standardFields']>,
): ObjectDeclarationInput {
  return {
    displayName,
    changedAt: { at: '/updatedAt', format: 'isoOffset' },
    list: {
      path: `${ROOT}/${name}`,
      query: { orderBy: 'id' },
      records: '/values',
      pageSize: { in: 'query', name: 'limit', max: 1_000 },
      selectedFields: { in: 'query', name: 'fields', always: Object.keys(COMMON_FIELDS) },
      paging: { kind: 'lastId', parameter: { in: 'query', name: 'idGreaterThan' } },
      since: { in: 'query', name: 'updatedAtAfterOrEqualTo', format: 'isoSeconds' },
      until: { in: 'query', name: 'updatedAtBeforeOrEqualTo', format: 'isoSeconds' },
    },
    standardFields: { ...COMMON_FIELDS, ...standardFields },
  };
}

/** Declares an object that can be written. Responses contain the requested fields. */
function declareWritableObject(
  displayName: string,
  name: string,
  standardFields: NonNullable<ObjectDeclarationInput['standardFields']>,
): ObjectDeclarationInput {
  const query = { fields: ['id', ...Object.keys(standardFields)].join(',') };
  const path = `${ROOT}/${name}`;
  return {
    ...declareReadOnlyObject(displayName, name, standardFields),
    create: { method: 'POST', path, query, responseRecord: '' },
    update: { method: 'PATCH', path: `${path}/{id}`, query, responseRecord: '' },
    remove: { path: `${path}/{id}` },
  };
}

/** Declares the sent emails. They have no time of creation or change, and the vendor documents no filter by time. */
function declareEmails(): ObjectDeclarationInput {
  return {
    displayName: 'Emails',
    changedAt: { at: '/sentAt', format: 'isoOffset' },
    list: {
      path: `${ROOT}/emails`,
      query: { orderBy: 'id' },
      records: '/values',
      pageSize: { in: 'query', name: 'limit', max: 1_000 },
      selectedFields: { in: 'query', name: 'fields', always: ['id', 'sentAt'] },
      paging: { kind: 'lastId', parameter: { in: 'query', name: 'idGreaterThan' } },
      behavior: { timeFilter: 'none' },
    },
    standardFields: {
      id: 'INT',
      name: 'STRING',
      subject: 'STRING',
      campaignId: 'REFERENCE',
      prospectId: 'REFERENCE',
      listEmailId: 'REFERENCE',
      clientType: 'STRING',
      sentAt: 'DATETIME',
    },
  };
}

export const engagementApi: DeclarationInput = {
  apiVersion: 'v5',
  docsUrl: 'https://developer.salesforce.com/docs/marketing/pardot/guide/version5overview.html',
  checkedAgainst: "the vendor's overview of version 5 and the queries of published connectors",
  errors: {
    messages: ['/message'],
    // The limits for concurrent requests (code 66) and for a day (code 122) return the same HTTP status. The rules match
    // their messages.
    rules: [],
  },
  behavior: {
    shortPage: 'notDocumented',
    timeFilter: {
      precision: 'format',
      zone: 'utc',
      bounds: 'inclusive',
      column: 'changedAt',
    },
    visibility: 'notDocumented',
    expiredCursor: { never: 'Pages are requested by the last id.' },
    depthLimit: { records: 100_000, beyond: 'keyset' },
    fieldsMax: 'notDocumented',
    urlBytesMax: 'notDocumented',
    nestedLists: 'complete',
    rateLimits: [{ contains: 'concurrent' }, { contains: 'Daily API rate limit', waitMs: HOUR_MS }],
  },
  objects: {
    prospects: declareWritableObject('Prospects', 'prospects', {
      email: 'STRING',
      firstName: 'STRING',
      lastName: 'STRING',
      company: 'STRING',
    }),
    lists: declareWritableObject('Lists', 'lists', { name: 'STRING', description: 'STRING' }),
    tags: declareWritableObject('Tags', 'tags', { name: 'STRING' }),
    emails: declareEmails(),
    campaigns: declareReadOnlyObject('Campaigns', 'campaigns', { name: 'STRING', cost: 'INT' }),
    opportunities: declareReadOnlyObject('Opportunities', 'opportunities', {
      name: 'STRING',
      value: 'FLOAT',
    }),
    'list-memberships': declareReadOnlyObject('List memberships', 'list-memberships', {
      listId: 'REFERENCE',
      prospectId: 'REFERENCE',
    }),
    'visitor-activities': declareReadOnlyObject('Visitor activities', 'visitor-activities', {
      type: 'INT',
      typeName: 'STRING',
      prospectId: 'REFERENCE',
    }),
  },
};

const connector = createDeclarativeConnector({
  displayName: DISPLAY_NAME,
  // A business unit accepts five concurrent requests.
  limits: { concurrency: 5, pageSize: 1_000, batchSize: 1 },
  api: engagementApi,
});

export function createAccountEngagement(
  name: string,
  baseUrl: string,
  suffix = '',
): ProviderModule {
  return {
    name,
    displayName: `${DISPLAY_NAME}${suffix}`,
    baseUrl,
    inputs: [
      {
        name: 'businessUnitId',
        displayName: 'Business Unit ID',
        prompt:
          'Business Unit ID is the 18-character ID that starts with 0Uv, found in Business Unit Setup within Salesforce Setup or Marketing Setup.',
        docsUrl: 'https://developer.salesforce.com/docs/marketing/pardot/guide/authentication.html',
      },
    ],
    headers: { 'Pardot-Business-Unit-Id': '{{businessUnitId}}' },
    connector,
  };
}
