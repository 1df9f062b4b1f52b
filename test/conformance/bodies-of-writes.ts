/** The body of a write, field by field. */
import { optionalField, requiredField } from '../support/conformance/body.ts';
import { bodyRules } from '../support/conformance/body-rules.ts';
import { mappedContact } from '../support/conformance/fixture-resources.ts';
import type { BodyEndpoint } from '../support/conformance/outcome.ts';
import type { Section } from '../support/conformance/rule.ts';

const create = { groupRef: 'acme', type: 'create' };
const single = () => ({ ...create, record: mappedContact() });
const later = () => ({ ...single(), mode: 'asynchronous' });
const several = () => ({ ...create, batch: [{ record: mappedContact() }] });
const association = {
  to: { id: '1' },
  types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 279 }],
};
const associated = () => ({ ...single(), associations: [association] });
const headed = () => ({ ...single(), headers: [{ key: 'x-sandbox-trace', value: '1' }] });

export const writeBody: BodyEndpoint = {
  send: ({ ask, objectPath }, body) => ask('POST', objectPath, body),
  mutation: 'writeRecords',
  extraInput: ({ tenant, installation }) => ({
    projectIdOrName: tenant.projectName,
    integrationIdOrName: installation.integrationId,
    objectName: 'contacts',
  }),
};

export const bodiesOfWrites: Section[] = [
  {
    title: 'Bodies of writes',
    rules: bodyRules({
      ...writeBody,
      name: 'A write',
      createCompleteBody: single,
      fields: {
        groupRef: requiredField('string'),
        type: requiredField('string', { values: ['create', 'update', 'delete'] }),
        mode: optionalField('string', {
          createWith: later,
          values: ['synchronous', 'asynchronous'],
        }),
        retryPolicy: optionalField('object', {
          createWith: () => ({ ...later(), retryPolicy: { deadlineHours: 2 } }),
        }),
        autoBatchPolicy: optionalField('object', {
          createWith: () => ({ ...later(), autoBatchPolicy: { maxDelayMinutes: 60 } }),
        }),
        record: optionalField('object', { createWithout: several }),
        batchPolicy: optionalField('object', {
          createWith: () => ({ ...several(), batchPolicy: { allOrNone: true } }),
        }),
        'batchPolicy.allOrNone': optionalField('boolean', {
          createWith: () => ({ ...several(), batchPolicy: { allOrNone: true } }),
        }),
        batch: optionalField('objects', { createWith: several, createWithout: single }),
        associations: optionalField('objects', { createWith: associated }),
        'associations[0].to': requiredField('object', { createWith: associated }),
        'associations[0].to.id': requiredField('string', { createWith: associated }),
        'associations[0].types': requiredField('objects', { createWith: associated }),
        'associations[0].types[0].associationCategory': requiredField('string', {
          createWith: associated,
        }),
        'associations[0].types[0].associationTypeId': requiredField('integer', {
          createWith: associated,
        }),
        headers: optionalField('objects', { createWith: headed }),
        'headers[0].key': requiredField('string', { createWith: headed }),
        'headers[0].value': requiredField('string', { createWith: headed }),
      },
    }),
  },
];
