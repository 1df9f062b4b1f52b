/** The body that creates an integration, field by field. */
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

const fieldsAt = (path: string, fields: Body['fields']) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [`${path}${name}`, field]));

const content = 'latestRevision.content';
const MODULE = { module: 'crm', proxy: { enabled: true, useModule: true } };
const inModule = { createWith: createIntegrationBody('salesforce', MODULE) };

const integrationFields: Body['fields'] = {
  name: unspecifiedField('string'),
  provider: unspecifiedField('string'),
  latestRevision: unspecifiedField('object'),
  'latestRevision.specVersion': unspecifiedField('string'),
  [content]: unspecifiedField('object'),
  ...fieldsAt(`${content}.`, {
    name: unspecifiedField('string'),
    provider: unspecifiedField('string'),
    displayName: unspecifiedField('string'),
    module: unspecifiedField('string', inModule),
    read: unspecifiedField('object'),
    'read.objects': unspecifiedField('objects'),
    write: unspecifiedField('object'),
    'write.objects': unspecifiedField('objects'),
    proxy: unspecifiedField('object'),
    'proxy.enabled': unspecifiedField('boolean'),
    'proxy.useModule': unspecifiedField('boolean', inModule),
  }),
};

const mappingFields = (path: string) =>
  fieldsAt(`${path}[0].`, {
    fieldName: unspecifiedField('string'),
    mapToName: unspecifiedField('string'),
    mapToDisplayName: unspecifiedField('string'),
  });

const reads = fieldsAt(`${content}.read.objects[0].`, {
  objectName: unspecifiedField('string'),
  destination: unspecifiedField('string'),
  schedule: unspecifiedField('string'),
  mapToName: unspecifiedField('string'),
  mapToDisplayName: unspecifiedField('string'),
  requiredFields: unspecifiedField('objects'),
  ...mappingFields('requiredFields'),
  optionalFields: unspecifiedField('objects'),
  ...mappingFields('optionalFields'),
  optionalFieldsAuto: unspecifiedField('string'),
  delivery: unspecifiedField('object'),
  'delivery.mode': unspecifiedField('string'),
  'delivery.pageSize': unspecifiedField('integer'),
  enabled: unspecifiedField('string'),
});

const writes = fieldsAt(`${content}.write.objects[0].`, {
  objectName: unspecifiedField('string'),
  inheritMapping: unspecifiedField('boolean'),
  valueDefaults: unspecifiedField('object'),
  'valueDefaults.allowAnyFields': unspecifiedField('boolean'),
});

const body = createIntegrationBody('sandbox', subscribeContent);
const [subscribed] = subscribeContent.subscribe.objects;
const updateEvent = { enabled: 'always', watchFieldsAuto: 'all' };
const watchingAll = createIntegrationBody('sandbox', {
  ...subscribeContent,
  subscribe: { objects: [{ ...subscribed, updateEvent }] },
});
const subscribes = {
  [`${content}.subscribe`]: unspecifiedField('object', { createWith: body }),
  [`${content}.subscribe.objects`]: unspecifiedField('objects', { createWith: body }),
  ...fieldsAt(`${content}.subscribe.objects[0].`, {
    objectName: unspecifiedField('string', { createWith: body }),
    destination: unspecifiedField('string', { createWith: body }),
    inheritFieldsAndMapping: unspecifiedField('boolean', { createWith: body }),
    createEvent: unspecifiedField('object', { createWith: body }),
    'createEvent.enabled': unspecifiedField('string', { createWith: body }),
    updateEvent: unspecifiedField('object', { createWith: body }),
    'updateEvent.enabled': unspecifiedField('string', { createWith: body }),
    'updateEvent.watchFieldsAuto': unspecifiedField('string', { createWith: watchingAll }),
    'updateEvent.requiredWatchFields': unspecifiedField('strings', { createWith: body }),
    deleteEvent: unspecifiedField('object', { createWith: body }),
    'deleteEvent.enabled': unspecifiedField('string', { createWith: body }),
    associationChangeEvent: unspecifiedField('object', { createWith: body }),
    'associationChangeEvent.enabled': unspecifiedField('string', { createWith: body }),
    'associationChangeEvent.includeFullRecords': unspecifiedField('boolean', { createWith: body }),
    otherEvents: unspecifiedField('strings', { createWith: body }),
  }),
};

export const bodiesOfIntegrations: Section[] = [
  {
    title: 'Bodies of integrations',
    rules: createBodyRules({
      ...integrationBody,
      fields: { ...integrationFields, ...reads, ...writes, ...subscribes },
    }),
  },
];
