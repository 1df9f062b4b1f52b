import { expect, test, vi } from 'vitest';
import type { Services } from '../../../../src/domain/access/call.ts';
import { integrationContentInput } from '../../../../src/domain/integrations/integration/integration-content-input.ts';
import { dropRepeatedFields } from '../../../../src/domain/integrations/integration/normalized-content.ts';
import { printText } from '../../../../src/kernel/text.ts';

function dropFields(requiredFields: object[], optionalFields: object[] = []) {
  const object = { objectName: 'contacts', destination: 'records', requiredFields, optionalFields };
  const read = { objects: [object] };
  const content = integrationContentInput.parse({ name: 'crm', provider: 'sandbox', read });
  const log = { warn: vi.fn() };
  const call = { log } as unknown as Pick<Services, 'log'>;
  const { content: normalized, warnings } = dropRepeatedFields(call, content, ['input']);
  expect(log.warn).toHaveBeenCalledTimes(warnings.length > 0 ? 1 : 0);
  const [firstObject] = normalized.read?.objects ?? [];
  const listFieldNames = (fields: { fieldName: string | null; mapToName: string | null }[] = []) =>
    fields.map(({ fieldName, mapToName }) => `${fieldName} as ${mapToName ?? fieldName}`);
  return {
    fields: [
      listFieldNames(firstObject?.requiredFields),
      listFieldNames(firstObject?.optionalFields),
    ],
    warnings: warnings.map((warning) => printText(warning)),
  };
}

test('keeps the last field of a name, and returns a warning for each omitted field', () => {
  const email = { fieldName: 'email' };
  const path = 'input.read.objects[0]';
  const nameReason = 'because the field email is named again later.';
  expect(dropFields([email, { fieldName: 'name' }], [email])).toEqual({
    fields: [['name as name'], ['email as email']],
    warnings: [`${path}.requiredFields[0]: is omitted, ${nameReason}`],
  });
  expect(dropFields([email, { ...email, mapToName: 'a' }, { ...email, mapToName: 'b' }])).toEqual({
    fields: [['email as b'], []],
    warnings: [0, 1].map((index) => `${path}.requiredFields[${index}]: is omitted, ${nameReason}`),
  });
});

test('keeps the last field of a mapped name', () => {
  const targetReason = 'is omitted, because the name mail is used again later.';
  expect(dropFields([{ mapToName: 'mail' }], [{ fieldName: 'email', mapToName: 'mail' }])).toEqual({
    fields: [[], ['email as mail']],
    warnings: [`input.read.objects[0].requiredFields[0]: ${targetReason}`],
  });
  expect(dropFields([{ fieldName: 'email', mapToName: 'mail' }, { fieldName: 'mail' }])).toEqual({
    fields: [['mail as mail'], []],
    warnings: [`input.read.objects[0].requiredFields[0]: ${targetReason}`],
  });
});

test('keeps fields with different names', () => {
  const fields = [{ fieldName: 'email', mapToName: 'name' }, { fieldName: 'a' }];
  expect(dropFields(fields, [{ fieldName: 'b' }, { mapToName: 'c' }])).toEqual({
    fields: [
      ['email as name', 'a as a'],
      ['b as b', 'null as c'],
    ],
    warnings: [],
  });
});
