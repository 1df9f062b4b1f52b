import { expect, test } from 'vitest';
import { operationMetadata } from '../../../../src/domain/data/operation/operation.ts';

test('adds empty lists to the metadata of a write, and parses its times', () => {
  expect(operationMetadata.parse({ objects: ['contact'] })).toEqual({
    objects: ['contact'],
    omittedFields: [],
    successfulRecordIds: [],
  });
  const retry = { attempts: 2, lastAttempt: '2026-01-01T00:00:00.000Z' };
  expect(operationMetadata.parse({ objects: [], retry }).retry).toEqual({
    attempts: 2,
    lastAttempt: new Date('2026-01-01T00:00:00Z'),
  });
});

test.each([
  ['no objects', {}],
  ['a record id that is a number', { objects: [], successfulRecordIds: [1] }],
  [
    'a fractional count',
    { objects: [], progress: { objectName: 'contact', recordsProcessed: 0.5 } },
  ],
  ['a time without a zone', { objects: [], retry: { attempts: 1, lastAttempt: '2026-01-01' } }],
])('refuses metadata with %s', (_description, metadata) => {
  expect(operationMetadata.safeParse(metadata).success).toBe(false);
});
