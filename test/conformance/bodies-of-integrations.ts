/** Rules for the fields of the request that creates an integration. */
import { type Body, type Json, unspecifiedField } from '../support/conformance/body.ts';
import { createBodyRules } from '../support/conformance/body-rules.ts';
import { completeContent, subscribeContent } from '../support/conformance/contents.ts';
import type { Fixture } from '../support/conformance/fixture.ts';
import type { Section } from '../support/conformance/rule.ts';
import { toRevision } from '../support/fixtures/integrations.ts';

function createIntegrationBody(provider: string, overrides: object) {
  return ({ createUniqueName }: Fixture): Json => {
    const name = createUniqueName('integration');
    return { name, provider, latestRevision: toRevision({ name, provider, ...overrides }) };
  };
}

export const integrationBody: Body = {
  name: 'A new integration',
  send: ({ request, base }, body) => request('POST', `${base}/integrations`, body),
  mutation: 'createIntegration',
  createCompleteBody: createIntegrationBody('sandbox', completeContent),
  fields: {},
};

const addPathToFields = (path: string, fields: Body['fields']) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [`${path}${name}`, field]));

const content = 'latestRevision.content';
const CRM_MODULE = { module: 'crm', proxy: { enabled: true, useModule: true } };
const moduleField = { createWith: createIntegrationBody('salesforce', CRM_MODULE) };

const integrationFields: Body['fields'] = {
  name: unspecifiedField('string'),
  provider: unspecifiedField('string'),
  latestRevision: unspecifiedField('object'),
  'latestRevision.specVersion': unspecifiedField('string'),
  [content]: unspecifiedField('object'),
  ...addPathToFields(`${content}.`, {
    name: unspecifiedField('string'),
    provider: unspecifiedField('string'),
    displayName: unspecifiedField('string'),
    module: unspecifiedField('string', moduleField),
    read: unspecifiedField('object'),
    'read.objects': unspecifiedField('objects'),
    write: unspecifiedField('object'),
    'write.objects': unspecifiedField('objects'),
    proxy: unspecifiedField('object'),
    'proxy.enabled': unspecifiedField('boolean'),
    'proxy.useModule': unspecifiedField('boolean', moduleField),
  }),
};

const createMappingFields = (path: string) =>
  addPathToFields(`${path}[0].`, {
    fieldName: unspecifiedField('string'),
    mapToName: unspecifiedField('string'),
    mapToDisplayName: unspecifiedField('string'),
  });

const readFields = addPathToFields(`${content}.read.objects[0].`, {
  objectName: unspecifiedField('string'),
  destination: unspecifiedField('string'),
  schedule: unspecifiedField('string'),
  mapToName: unspecifiedField('string'),
  mapToDisplayName: unspecifiedField('string'),
  requiredFields: unspecifiedField('objects'),
  ...createMappingFields('requiredFields'),
  optionalFields: unspecifiedField('objects'),
  ...createMappingFields('optionalFields'),
  optionalFieldsAuto: unspecifiedField('string'),
  delivery: unspecifiedField('object'),
  'delivery.mode': unspecifiedField('string'),
  'delivery.pageSize': unspecifiedField('integer'),
  enabled: unspecifiedField('string'),
});

const writeFields = addPathToFields(`${content}.write.objects[0].`, {
  objectName: unspecifiedField('string'),
  inheritMapping: unspecifiedField('boolean'),
  valueDefaults: unspecifiedField('object'),
  'valueDefaults.allowAnyFields': unspecifiedField('boolean'),
});

const createSubscribeBody = createIntegrationBody('sandbox', subscribeContent);
const [subscribeObject] = subscribeContent.subscribe.objects;
const updateEvent = { enabled: 'always', watchFieldsAuto: 'all' };
const createWatchAllBody = createIntegrationBody('sandbox', {
  ...subscribeContent,
  subscribe: { objects: [{ ...subscribeObject, updateEvent }] },
});
const subscribeFields = {
  [`${content}.subscribe`]: unspecifiedField('object', { createWith: createSubscribeBody }),
  [`${content}.subscribe.objects`]: unspecifiedField('objects', {
    createWith: createSubscribeBody,
  }),
  ...addPathToFields(`${content}.subscribe.objects[0].`, {
    objectName: unspecifiedField('string', { createWith: createSubscribeBody }),
    destination: unspecifiedField('string', { createWith: createSubscribeBody }),
    inheritFieldsAndMapping: unspecifiedField('boolean', { createWith: createSubscribeBody }),
    createEvent: unspecifiedField('object', { createWith: createSubscribeBody }),
    'createEvent.enabled': unspecifiedField('string', { createWith: createSubscribeBody }),
    updateEvent: unspecifiedField('object', { createWith: createSubscribeBody }),
    'updateEvent.enabled': unspecifiedField('string', { createWith: createSubscribeBody }),
    'updateEvent.watchFieldsAuto': unspecifiedField('string', { createWith: createWatchAllBody }),
    'updateEvent.requiredWatchFields': unspecifiedField('strings', {
      createWith: createSubscribeBody,
    }),
    deleteEvent: unspecifiedField('object', { createWith: createSubscribeBody }),
    'deleteEvent.enabled': unspecifiedField('string', { createWith: createSubscribeBody }),
    associationChangeEvent: unspecifiedField('object', { createWith: createSubscribeBody }),
    'associationChangeEvent.enabled': unspecifiedField('string', {
      createWith: createSubscribeBody,
    }),
    'associationChangeEvent.includeFullRecords': unspecifiedField('boolean', {
      createWith: createSubscribeBody,
    }),
    otherEvents: unspecifiedField('strings', { createWith: createSubscribeBody }),
  }),
};

export const bodiesOfIntegrations: Section[] = [
  {
    title: 'Bodies of integrations',
    rules: createBodyRules({
      ...integrationBody,
      fields: { ...integrationFields, ...readFields, ...writeFields, ...subscribeFields },
    }),
  },
];
