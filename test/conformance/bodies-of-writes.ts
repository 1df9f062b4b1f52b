/** The body of a write, field by field. */
import { needed, optional } from '../support/conformance/body.ts';
import { bodyRules } from '../support/conformance/body-rules.ts';
import { mappedContact } from '../support/conformance/makings.ts';
import type { Sendable } from '../support/conformance/outcome.ts';
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

export const writeBody: Sendable = {
  send: ({ ask, objectPath }, body) => ask('POST', objectPath, body),
  mutation: 'writeRecords',
  beside: ({ tenant, installation }) => ({
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
      whole: single,
      fields: {
        groupRef: needed('string'),
        type: needed('string', { oneOf: ['create', 'update', 'delete'] }),
        mode: optional('string', { body: later, oneOf: ['synchronous', 'asynchronous'] }),
        retryPolicy: optional('object', {
          body: () => ({ ...later(), retryPolicy: { deadlineHours: 2 } }),
        }),
        autoBatchPolicy: optional('object', {
          body: () => ({ ...later(), autoBatchPolicy: { maxDelayMinutes: 60 } }),
        }),
        record: optional('object', { instead: several }),
        batchPolicy: optional('object', {
          body: () => ({ ...several(), batchPolicy: { allOrNone: true } }),
        }),
        'batchPolicy.allOrNone': optional('boolean', {
          body: () => ({ ...several(), batchPolicy: { allOrNone: true } }),
        }),
        batch: optional('objects', { body: several, instead: single }),
        associations: optional('objects', { body: associated }),
        'associations[0].to': needed('object', { body: associated }),
        'associations[0].to.id': needed('string', { body: associated }),
        'associations[0].types': needed('objects', { body: associated }),
        'associations[0].types[0].associationCategory': needed('string', { body: associated }),
        'associations[0].types[0].associationTypeId': needed('integer', { body: associated }),
        headers: optional('objects', { body: headed }),
        'headers[0].key': needed('string', { body: headed }),
        'headers[0].value': needed('string', { body: headed }),
      },
    }),
  },
];
