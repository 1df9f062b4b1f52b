import { expect, test } from 'vitest';
import { z } from 'zod';
import { toIssues } from '../../../../src/domain/base/issues.ts';
import {
  CONTENT_LIMITS,
  integrationContentInput,
} from '../../../../src/domain/integrations/integration/integration-content-input.ts';
import { formatPath } from '../../../../src/kernel/text.ts';

const createContent = (object: object, count = 1) => ({
  name: 'crm',
  provider: 'sandbox',
  read: {
    objects: Array(count).fill({ objectName: 'contacts', destination: 'records', ...object }),
  },
});

const listIssueNames = (input: object) => {
  const data = { input };
  const { error } = z.object({ input: integrationContentInput }).safeParse(data);
  return error ? toIssues(error, data).map(({ path }) => formatPath(path)) : [];
};

test.each([
  ['the maximum number of objects', createContent({}, CONTENT_LIMITS.objects)],
  [
    'the maximum number of fields',
    createContent({ optionalFields: Array(CONTENT_LIMITS.fields).fill({ fieldName: 'email' }) }),
  ],
  [
    'a name of the maximum length',
    createContent({ mapToName: 'x'.repeat(CONTENT_LIMITS.characters) }),
  ],
  ['the smallest page', createContent({ delivery: { pageSize: 50 } })],
  ['the largest page', createContent({ delivery: { pageSize: 500 } })],
  [
    'nulls',
    createContent({ schedule: null, delivery: null, requiredFields: null, mapToName: null }),
  ],
])('accepts %s', (_description, input) => {
  expect(listIssueNames(input)).toEqual([]);
});

test.each([
  ['too many objects', createContent({}, CONTENT_LIMITS.objects + 1), 'input.read.objects'],
  [
    'too many fields',
    createContent({ optionalFields: Array(CONTENT_LIMITS.fields + 1).fill({}) }),
    'input.read.objects[0].optionalFields',
  ],
  [
    'too long a name',
    createContent({ mapToName: 'x'.repeat(CONTENT_LIMITS.characters + 1) }),
    'input.read.objects[0].mapToName',
  ],
  [
    'a read object without a destination',
    createContent({ destination: null }),
    'input.read.objects[0].destination',
  ],
  ['an empty name', createContent({ mapToName: '' }), 'input.read.objects[0].mapToName'],
  [
    'a small page',
    createContent({ delivery: { pageSize: 49 } }),
    'input.read.objects[0].delivery.pageSize',
  ],
  [
    'a large page',
    createContent({ delivery: { pageSize: 501 } }),
    'input.read.objects[0].delivery.pageSize',
  ],
])('refuses %s', (_description, input, name) => {
  expect(listIssueNames(input)).toEqual([name]);
});
