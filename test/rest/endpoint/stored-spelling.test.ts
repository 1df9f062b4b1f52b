import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Mutation } from '../../../src/domain/access/declared-mutation.ts';
import { DomainError } from '../../../src/kernel/errors.ts';
import { enumValue, member, nameInput, printText, text } from '../../../src/kernel/text.ts';
import { mutationEndpoint } from '../../../src/rest/endpoint/resource-endpoints.ts';
import { createSpelling } from '../../../src/rest/endpoint/rest-spelling.ts';
import { STORED_SPELLING } from '../../../src/rest/endpoint/stored-spelling.ts';

const input = z
  .object({
    startTime: z.string().describe('The start.'),
    endTime: z.string().describe('The end.'),
  })
  .meta({ id: 'RenamedMembersInput', description: 'Renamed members.' });
const mutation = Object.assign(async () => null, {
  needs: 'read',
  input,
  description: 'Renames members.',
} as const) as unknown as Mutation<typeof input, null>;
const renamed = mutationEndpoint({
  id: 'renameMembers',
  method: 'POST',
  path: '/renamed-members',
  tag: 'Tests',
  mutation,
  locations: { startTime: { in: 'body', name: 'window.from' } },
  status: 204,
  resource: null,
});

const detail = text`\`${member('endTime')}\` must be after \`${member('startTime')}\`.`;
const sentence = '`endTime` must be after `window.from`.';

test('names a renamed member in immediate and in stored problems', () => {
  const parts = { path: {}, query: {}, header: {}, body: {} };
  const spelling = createSpelling(renamed, { parts, locations: renamed.locations });
  expect(new DomainError('CONFLICT', detail).spell(spelling).message).toBe(sentence);
  const stored = nameInput(detail, 'RenamedMembersInput');
  expect(printText(stored, STORED_SPELLING)).toBe(sentence);
  // A problem may quote a stored one, such as the findings of a plan.
  expect(new DomainError('CONFLICT', stored).spell(spelling).message).toBe(sentence);
});

test('uses the words of REST, and the paths of the domain for members of unknown inputs', () => {
  const stored = text`\`${member('a', 'b')}\` must be ${enumValue('IF_EMPTY', 'WriteOccasion')}.`;
  expect(printText(stored, STORED_SPELLING)).toBe('`a.b` must be ifEmpty.');
});
