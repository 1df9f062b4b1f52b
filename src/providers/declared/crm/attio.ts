/** Attio: a REST API for standard and custom objects. */
import type { ObjectDeclarationInput } from '../../declarative/declaration/declaration.ts';
import type { DeclaredProvider } from '../../declarative/declarative-provider.ts';

/** Declares the records of a standard or custom object. */
function declareRecords(displayName: string): ObjectDeclarationInput {
  const path = '/v2/objects/{object}/records';
  return {
    displayName,
    id: '/id/record_id',
    nestedFields: [{ at: '/values', conversion: 'attioValues' }],
    list: {
      method: 'POST',
      path: `${path}/query`,
      body: {},
      records: '/data',
      pageSize: { in: 'body', name: '/limit', max: 500 },
      paging: { kind: 'offset', parameter: { in: 'body', name: '/offset' } },
      equalityFilter: { in: 'body', name: '/filter/{field}' },
    },
    byIds: { path: `${path}/{id}`, records: '/data' },
    create: { method: 'POST', path, bodyRecord: '/data/values', responseRecord: '/data' },
    update: {
      method: 'PATCH',
      path: `${path}/{id}`,
      bodyRecord: '/data/values',
      responseRecord: '/data',
    },
    remove: { path: `${path}/{id}` },
    fieldList: {
      path: '/v2/objects/{object}/attributes',
      paging: { kind: 'offset', parameter: { in: 'query', name: 'offset' } },
      fields: '/data',
      name: '/api_slug',
      displayName: '/title',
      type: '/type',
      isRequired: '/is_required',
      isWritable: '/is_writable',
      types: {
        text: 'STRING',
        'personal-name': 'STRING',
        'email-address': 'STRING',
        'phone-number': 'STRING',
        domain: 'STRING',
        number: 'FLOAT',
        currency: 'FLOAT',
        rating: 'INT',
        checkbox: 'BOOLEAN',
        date: 'DATE',
        timestamp: 'DATETIME',
        'record-reference': 'REFERENCE',
        'actor-reference': 'REFERENCE',
      },
    },
  };
}

/** Declares an object that is not in the account's list of objects. */
function declareCollection(
  displayName: string,
  singularName: string,
  pageSizeMax: number,
): ObjectDeclarationInput {
  const path = `/v2/${singularName}s`;
  return {
    displayName,
    id: `/id/${singularName}_id`,
    list: {
      path,
      records: '/data',
      pageSize: { in: 'query', name: 'limit', max: pageSizeMax },
      paging: { kind: 'offset', parameter: { in: 'query', name: 'offset' } },
    },
    byIds: { path: `${path}/{id}`, records: '/data' },
    create: { method: 'POST', path, bodyRecord: '/data', responseRecord: '/data' },
    remove: { path: `${path}/{id}` },
  };
}

const EVENT_RECORD_ID = { firstOf: ['/id/record_id', '/id/note_id'] };

export const attio: DeclaredProvider = {
  name: 'attio',
  displayName: 'Attio',
  baseUrl: 'https://api.attio.com',
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: {
    authorizeUrl: 'https://app.attio.com/authorize',
    tokenUrl: 'https://app.attio.com/oauth/token',
  },
  healthCheck: '/v2/objects',
  limits: { requestsPerSecond: 25 },
  api: {
    apiVersion: 'v2',
    docsUrl: 'https://docs.attio.com/rest-api/overview',
    checkedAgainst: "the vendor's guides on records, pagination, rate limits, errors and webhooks",
    notes: [
      'Records have no modification time, so each read fetches all of them.',
      'An update adds values to a multi-value attribute and does not replace the existing ones.',
      'The vendor sends no event times, so an event has the time of its arrival. Events do not name the changed attributes. Task events are not supported: the vendor does not document their format.',
      "A change to a note's title or text is reported as an update. `rawEvent` names the record that the note belongs to.",
    ],
    scopes: [
      'record_permission:read-write',
      'object_configuration:read',
      'note:read-write',
      'task:read-write',
      'webhook:read-write',
    ],
    errors: { messages: ['/message'] },
    events: {
      authentication: {
        kind: 'hmac',
        header: 'Attio-Signature',
        algorithm: 'sha256',
        encoding: 'hex',
      },
      account: { source: 'subscription' },
      bodyEvents: '/events',
      typeParts: ['/event_type'],
      // An event type without `object` refers to the object in the subscription's filter.
      types: {
        'record.created': { kind: 'CREATE' },
        'record.updated': { kind: 'UPDATE' },
        'record.deleted': { kind: 'DELETE' },
        'note.created': { object: 'notes', kind: 'CREATE' },
        'note.updated': { object: 'notes', kind: 'UPDATE' },
        'note-content.updated': { object: 'notes', kind: 'UPDATE' },
        'note.deleted': { object: 'notes', kind: 'DELETE' },
      },
      objectsWithoutEvents: ['tasks'],
      // An event has no id and no time. A retried request has the same key.
      eventIdParts: [{ header: 'Idempotency-Key' }, EVENT_RECORD_ID],
      recordId: { parts: [EVENT_RECORD_ID] },
      acceptedStatus: 200,
      subscription: {
        path: '/v2/webhooks',
        body: { data: { target_url: '{url}' } },
        objectId: { path: '/v2/objects/{object}', at: '/data/id/object_id' },
        types: {
          at: '/data/subscriptions',
          item: {
            event_type: '{type}',
            filter: {
              $and: [{ field: 'id.object_id', operator: 'equals', value: '{objectId}' }],
            },
          },
          itemByObject: { notes: { event_type: '{type}', filter: null } },
        },
        id: '/data/id/webhook_id',
        secret: { at: '/data/secret' },
        covers: 'object',
        checkPath: '/v2/webhooks/{subscriptionId}',
        remove: { path: '/v2/webhooks/{subscriptionId}' },
      },
    },
    behavior: {
      // The guide says that a short page is the last one, but not whether permissions shorten pages.
      shortPage: 'notDocumented',
      timeFilter: 'none',
      visibility: 'notDocumented',
      expiredCursor: { never: 'Pages are requested by their offset.' },
      depthLimit: 'notDocumented',
      fieldsMax: 'none',
      urlBytesMax: 'notDocumented',
      nestedLists: 'notDocumented',
      rateLimits: 'status429',
    },
    objects: {
      people: declareRecords('People'),
      companies: declareRecords('Companies'),
      deals: declareRecords('Deals'),
      tasks: {
        ...declareCollection('Tasks', 'task', 500),
        update: {
          method: 'PATCH',
          path: '/v2/tasks/{id}',
          bodyRecord: '/data',
          responseRecord: '/data',
        },
      },
      notes: declareCollection('Notes', 'note', 50),
    },
    otherObjects: declareRecords('Records of a custom object'),
    objectList: {
      list: { path: '/v2/objects', records: '/data', paging: { kind: 'none' } },
      name: '/api_slug',
      displayName: '/plural_noun',
    },
  },
};
