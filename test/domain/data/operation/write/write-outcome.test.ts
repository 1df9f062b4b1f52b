import { expect, test } from 'vitest';
import { printColumn, toTextColumn } from '../../../../../src/domain/base/stored-text.ts';
import {
  createFailedOutcome,
  createUnknownOutcome,
  summarizeOutcomes,
  toStorableOutcome,
} from '../../../../../src/domain/data/operation/write/outcome.ts';
import { enumValue, member, printText, text } from '../../../../../src/kernel/text.ts';

const task = { objectName: 'contacts', type: 'CREATE' } as const;
const createResult = (recordId: string | null) => ({
  success: true,
  recordId,
  data: null,
  errors: [],
});

test('summarizes a single write by its record', () => {
  expect(summarizeOutcomes(task, [createResult('c1')])).toMatchObject({
    status: 'SUCCESS',
    result: '[contacts] Record c1 created',
    successfulRecordIds: ['c1'],
  });
  expect(summarizeOutcomes({ ...task, type: 'DELETE' }, [createResult('c1')]).result).toBe(
    '[contacts] Record c1 deleted',
  );
  expect(summarizeOutcomes(task, [createFailedOutcome(null, 'No email.')])).toEqual({
    status: 'FAILURE',
    result: '[contacts] Error writing to provider: No email.',
    successfulRecordIds: [],
    successCount: 0,
    failureCount: 1,
    errors: ['No email.'],
  });
  expect(summarizeOutcomes(task, [createUnknownOutcome(null, 'Timed out.')]).result).toMatch(
    /^\[contacts\] The outcome is unknown: .* Timed out\.$/,
  );
});

test('omits the ID of a created record if the provider does not return it', () => {
  expect(summarizeOutcomes(task, [createResult(null)])).toMatchObject({
    status: 'SUCCESS',
    result: '[contacts] Record created',
    successfulRecordIds: [],
    successCount: 1,
  });
});

test('summarizes a batch by its counts, and fails it if nothing was written', () => {
  const refusedOutcome = createFailedOutcome(null, 'No email.');
  expect(summarizeOutcomes(task, [createResult('c1'), refusedOutcome])).toMatchObject({
    status: 'SUCCESS',
    result: '[contacts] Batch write completed (1 succeeded, 1 failed)',
    errors: ['No email.'],
  });
  expect(summarizeOutcomes(task, [refusedOutcome, refusedOutcome])).toMatchObject({
    status: 'FAILURE',
    failureCount: 2,
  });
});

test("removes characters that the database rejects from a provider's response, and truncates it", () => {
  const refusedOutcome = {
    success: false,
    recordId: 'c\0 1',
    data: { 'na\0me': ['a\0b', { half: '\ud83d' }], time: null, count: 1.5 },
    errors: ['x'.repeat(10_000), ...Array.from({ length: 50 }, () => 'no')],
  };
  const outcome = toStorableOutcome(refusedOutcome, { wasUncertain: false });
  expect(outcome).toMatchObject({
    recordId: 'c 1',
    data: { name: ['ab', { half: '\ufffd' }], time: null, count: 1.5 },
  });
  expect(outcome.errors).toHaveLength(20);
  expect(outcome.errors[0]).toHaveLength(500);
  const large = { success: true, recordId: 'c1', data: { text: 'x'.repeat(300_000) }, errors: [] };
  expect(toStorableOutcome(large, { wasUncertain: false })).toEqual({
    success: true,
    recordId: 'c1',
    data: null,
    errors: [],
  });
});

test('reports an unknown outcome if the last or an earlier attempt may have written the record', () => {
  const failed = { success: false, recordId: 'c\0 1', data: null, errors: ['Not attempted'] };
  const unknown = {
    success: false,
    recordId: 'c 1',
    errors: [expect.stringContaining('The outcome is unknown')],
    isUnknown: true,
  };
  const known = { success: false, recordId: 'c 1', data: null, errors: ['Not attempted'] };
  const listOutcomes = (failure: 'UNKNOWN' | 'NOT_EXECUTED') =>
    [false, true].map((wasUncertain) =>
      toStorableOutcome({ ...failed, failure }, { wasUncertain }),
    );
  expect(listOutcomes('UNKNOWN')).toMatchObject([unknown, unknown]);
  expect(listOutcomes('NOT_EXECUTED')).toEqual([known, expect.objectContaining(unknown)]);
  // The provider refused the record itself, as it had in the earlier attempt.
  expect(toStorableOutcome(failed, { wasUncertain: true })).toEqual(known);
});

test('keeps the names in a reason as parts, also in the summary', () => {
  const reason = text`\`${member('record', 'email')}\` must not be given for a ${enumValue('DELETE', 'WriteType')}.`;
  const outcome = createUnknownOutcome('c1', reason);
  const { result, errors } = summarizeOutcomes(task, [outcome]);
  const spelling = {
    locate: (path: readonly PropertyKey[]) => ({ in: 'body' as const, name: path.join('/') }),
    toWord: (name: string) => name.toLowerCase(),
  };
  const printed = '`record/email` must not be given for a delete.';
  expect(errors.map((error) => printText(error, spelling))).toEqual([
    expect.stringContaining(printed),
  ]);
  expect(printColumn({ spelling }, toTextColumn(result))).toContain(printed);
});
