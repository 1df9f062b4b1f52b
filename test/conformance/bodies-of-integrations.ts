/** The body that creates an integration, field by field. */
import { type Body, type Json, typed } from '../support/conformance/body.ts';
import { bodyRules } from '../support/conformance/body-rules.ts';
import { subscribeContent, wholeContent } from '../support/conformance/contents.ts';
import type { Section } from '../support/conformance/rule.ts';
import type { Scene } from '../support/conformance/scene.ts';
import { revisionOf } from '../support/scenes/integrations.ts';

function integration(provider: string, given: object) {
  return ({ fresh }: Scene): Json => {
    const name = fresh('integration');
    return { name, provider, latestRevision: revisionOf({ name, provider, ...given }) };
  };
}

export const integrationBody: Body = {
  name: 'A new integration',
  send: ({ ask, base }, body) => ask('POST', `${base}/integrations`, body),
  mutation: 'createIntegration',
  whole: integration('sandbox', wholeContent),
  fields: {},
};

const fieldsAt = (place: string, fields: Body['fields']) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [`${place}${name}`, field]));

const content = 'latestRevision.content';
const MODULE = { module: 'crm', proxy: { enabled: true, useModule: true } };
const inModule = { body: integration('salesforce', MODULE) };

const top: Body['fields'] = {
  name: typed('string'),
  provider: typed('string'),
  latestRevision: typed('object'),
  'latestRevision.specVersion': typed('string'),
  [content]: typed('object'),
  ...fieldsAt(`${content}.`, {
    name: typed('string'),
    provider: typed('string'),
    displayName: typed('string'),
    module: typed('string', inModule),
    read: typed('object'),
    'read.objects': typed('objects'),
    write: typed('object'),
    'write.objects': typed('objects'),
    proxy: typed('object'),
    'proxy.enabled': typed('boolean'),
    'proxy.useModule': typed('boolean', inModule),
  }),
};

const mapping = (place: string) =>
  fieldsAt(`${place}[0].`, {
    fieldName: typed('string'),
    mapToName: typed('string'),
    mapToDisplayName: typed('string'),
  });

const reads = fieldsAt(`${content}.read.objects[0].`, {
  objectName: typed('string'),
  destination: typed('string'),
  schedule: typed('string'),
  mapToName: typed('string'),
  mapToDisplayName: typed('string'),
  requiredFields: typed('objects'),
  ...mapping('requiredFields'),
  optionalFields: typed('objects'),
  ...mapping('optionalFields'),
  optionalFieldsAuto: typed('string'),
  delivery: typed('object'),
  'delivery.mode': typed('string'),
  'delivery.pageSize': typed('integer'),
  enabled: typed('string'),
});

const writes = fieldsAt(`${content}.write.objects[0].`, {
  objectName: typed('string'),
  inheritMapping: typed('boolean'),
  valueDefaults: typed('object'),
  'valueDefaults.allowAnyFields': typed('boolean'),
});

const body = integration('sandbox', subscribeContent);
const [subscribed] = subscribeContent.subscribe.objects;
const updateEvent = { enabled: 'always', watchFieldsAuto: 'all' };
const watchingAll = integration('sandbox', {
  ...subscribeContent,
  subscribe: { objects: [{ ...subscribed, updateEvent }] },
});
const subscribes = {
  [`${content}.subscribe`]: typed('object', { body }),
  [`${content}.subscribe.objects`]: typed('objects', { body }),
  ...fieldsAt(`${content}.subscribe.objects[0].`, {
    objectName: typed('string', { body }),
    destination: typed('string', { body }),
    inheritFieldsAndMapping: typed('boolean', { body }),
    createEvent: typed('object', { body }),
    'createEvent.enabled': typed('string', { body }),
    updateEvent: typed('object', { body }),
    'updateEvent.enabled': typed('string', { body }),
    'updateEvent.watchFieldsAuto': typed('string', { body: watchingAll }),
    'updateEvent.requiredWatchFields': typed('strings', { body }),
    deleteEvent: typed('object', { body }),
    'deleteEvent.enabled': typed('string', { body }),
    associationChangeEvent: typed('object', { body }),
    'associationChangeEvent.enabled': typed('string', { body }),
    'associationChangeEvent.includeFullRecords': typed('boolean', { body }),
    otherEvents: typed('strings', { body }),
  }),
};

export const bodiesOfIntegrations: Section[] = [
  {
    title: 'Bodies of integrations',
    rules: bodyRules({
      ...integrationBody,
      fields: { ...top, ...reads, ...writes, ...subscribes },
    }),
  },
];
