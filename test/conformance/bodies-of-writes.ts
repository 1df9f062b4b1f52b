/** Rules for the fields of a write. */
import { optionalField, requiredField } from '../support/conformance/body.ts';
import { createBodyRules } from '../support/conformance/body-rules.ts';
import { createMappedContact } from '../support/conformance/fixture-resources.ts';
import type { BodyEndpoint } from '../support/conformance/outcome.ts';
import type { Section } from '../support/conformance/rule.ts';

const CREATE_BODY = { groupRef: 'acme', type: 'create' };
const createSingleWrite = () => ({ ...CREATE_BODY, record: createMappedContact() });
const createAsynchronousWrite = () => ({ ...createSingleWrite(), mode: 'asynchronous' });
const createBatchWrite = () => ({ ...CREATE_BODY, batch: [{ record: createMappedContact() }] });
const ASSOCIATION = {
  to: { id: '1' },
  types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 279 }],
};
const createWithAssociation = () => ({ ...createSingleWrite(), associations: [ASSOCIATION] });
const createWithHeader = () => ({
  ...createSingleWrite(),
  headers: [{ key: 'x-sandbox-trace', value: '1' }],
});

export const writeBody: BodyEndpoint = {
  send: ({ request, objectPath }, body) => request('POST', objectPath, body),
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
    rules: createBodyRules({
      ...writeBody,
      name: 'A write',
      createCompleteBody: createSingleWrite,
      fields: {
        groupRef: requiredField('string'),
        type: requiredField('string', { values: ['create', 'update', 'delete'] }),
        mode: optionalField('string', {
          createWith: createAsynchronousWrite,
          values: ['synchronous', 'asynchronous'],
        }),
        retryPolicy: optionalField('object', {
          createWith: () => ({ ...createAsynchronousWrite(), retryPolicy: { deadlineHours: 2 } }),
        }),
        autoBatchPolicy: optionalField('object', {
          createWith: () => ({
            ...createAsynchronousWrite(),
            autoBatchPolicy: { maxDelayMinutes: 60 },
          }),
        }),
        record: optionalField('object', { createWithout: createBatchWrite }),
        batchPolicy: optionalField('object', {
          createWith: () => ({ ...createBatchWrite(), batchPolicy: { allOrNone: true } }),
        }),
        'batchPolicy.allOrNone': optionalField('boolean', {
          createWith: () => ({ ...createBatchWrite(), batchPolicy: { allOrNone: true } }),
        }),
        batch: optionalField('objects', {
          createWith: createBatchWrite,
          createWithout: createSingleWrite,
        }),
        associations: optionalField('objects', { createWith: createWithAssociation }),
        'associations[0].to': requiredField('object', { createWith: createWithAssociation }),
        'associations[0].to.id': requiredField('string', { createWith: createWithAssociation }),
        'associations[0].types': requiredField('objects', { createWith: createWithAssociation }),
        'associations[0].types[0].associationCategory': requiredField('string', {
          createWith: createWithAssociation,
        }),
        'associations[0].types[0].associationTypeId': requiredField('integer', {
          createWith: createWithAssociation,
        }),
        headers: optionalField('objects', { createWith: createWithHeader }),
        'headers[0].key': requiredField('string', { createWith: createWithHeader }),
        'headers[0].value': requiredField('string', { createWith: createWithHeader }),
      },
    }),
  },
];
