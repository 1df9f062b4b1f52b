import { expect, test } from 'vitest';
import { integrationContentInput } from '../../../src/domain/integration/integration-content-input.ts';
import { dropRepeatedFields } from '../../../src/domain/integration/normalized-content.ts';

const logged: object[] = [];
const log = { warn: (facts: object) => void logged.push(facts) } as never;

function settle(requiredFields: object[], optionalFields: object[] = []) {
  const object = { objectName: 'contacts', destination: 'records', requiredFields, optionalFields };
  const read = { objects: [object] };
  const content = integrationContentInput.parse({ name: 'crm', provider: 'sandbox', read });
  const { content: normalized, warnings } = dropRepeatedFields({ log }, content, ['input']);
  const [only] = normalized.read?.objects ?? [];
  const shown = (fields: { fieldName: string | null; mapToName: string | null }[] = []) =>
    fields.map(({ fieldName, mapToName }) => `${fieldName} as ${mapToName ?? fieldName}`);
  return { fields: [shown(only?.requiredFields), shown(only?.optionalFields)], warnings };
}

test('keeps the last field of a name, and returns a warning for each omitted field', () => {
  const email = { fieldName: 'email' };
  const at = 'input.read.objects[0]';
  const named = 'because the field email is named again later.';
  expect(settle([email, { fieldName: 'name' }], [email])).toEqual({
    fields: [['name as name'], ['email as email']],
    warnings: [`${at}.requiredFields[0]: is left out, ${named}`],
  });
  expect(settle([email, { ...email, mapToName: 'a' }, { ...email, mapToName: 'b' }])).toEqual({
    fields: [['email as b'], []],
    warnings: [0, 1].map((index) => `${at}.requiredFields[${index}]: is left out, ${named}`),
  });
  expect(logged).toHaveLength(2);
});

test('keeps the last field of a mapped name', () => {
  const used = 'is left out, because the name mail is used again later.';
  expect(settle([{ mapToName: 'mail' }], [{ fieldName: 'email', mapToName: 'mail' }])).toEqual({
    fields: [[], ['email as mail']],
    warnings: [`input.read.objects[0].requiredFields[0]: ${used}`],
  });
  expect(settle([{ fieldName: 'email', mapToName: 'mail' }, { fieldName: 'mail' }])).toEqual({
    fields: [['mail as mail'], []],
    warnings: [`input.read.objects[0].requiredFields[0]: ${used}`],
  });
});

test('keeps fields with different names', () => {
  const fields = [{ fieldName: 'email', mapToName: 'name' }, { fieldName: 'a' }];
  expect(settle(fields, [{ fieldName: 'b' }, { mapToName: 'c' }])).toEqual({
    fields: [
      ['email as name', 'a as a'],
      ['b as b', 'null as c'],
    ],
    warnings: [],
  });
});
