/** Tests of the provider contract for reading and describing records. */
import { expect } from 'vitest';
import { FIELD_VALUE_TYPES } from '../../src/providers/contract.ts';
import type { PageRead } from '../../src/providers/moving-records.ts';
import { getFiltersMax } from '../../src/providers/object-support.ts';
import {
  type AddCheck,
  atMinute,
  type ContractSubject,
  catchFailure,
  countForPages,
  createPageRead,
  readAll,
  requireCapability,
  storeTexts,
  UNKNOWN_OBJECT,
  UNKNOWN_OBJECT_KINDS,
} from './contract-subject.ts';

export function checkMetadata(check: AddCheck): void {
  check('describes an object by fields of known types and unique names', async (subject, skip) => {
    const describeObject = requireCapability(subject, 'describeObject', skip);
    const { fields } = await describeObject(subject.session, subject.objectName);
    const names = fields.map(({ fieldName }) => fieldName);
    expect(names).toContain(subject.textField);
    expect(new Set(names).size).toBe(names.length);
    for (const { fieldName, valueType, values, referenceTo } of fields) {
      expect(FIELD_VALUE_TYPES).toContain(valueType);
      expect(values !== null, fieldName).toBe(valueType.endsWith('_SELECT'));
      expect(referenceTo !== null, fieldName).toBe(valueType === 'REFERENCE');
    }
  });

  check('reports an unknown object instead of describing it', async (subject, skip) => {
    const describeObject = requireCapability(subject, 'describeObject', skip);
    const failure = await catchFailure(describeObject(subject.session, UNKNOWN_OBJECT));
    expect(UNKNOWN_OBJECT_KINDS).toContain(failure.kind);
  });
}

function getPagesMin({ isPaged }: ContractSubject): number {
  return isPaged === false ? 1 : 3;
}

export function checkReading(check: AddCheck): void {
  check('returns each record exactly once, page by page', async (subject, skip) => {
    requireCapability(subject, 'readPage', skip);
    const ids = await storeTexts(subject, countForPages(subject));
    const { pages, records } = await readAll(subject);
    expect(pages, 'pages: how is the next page requested?').toBeGreaterThanOrEqual(
      getPagesMin(subject),
    );
    expect(records.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  check('returns each changed record exactly once, page by page', async (subject, skip) => {
    requireCapability(subject, 'readPage', skip);
    if (!subject.hasChangeTimes) skip('the records have no time of change');
    await subject.storeRecords([
      { record: subject.createValidRecord('before'), changedAt: atMinute(0) },
    ]);
    const ids = await storeTexts(subject, countForPages(subject), atMinute(2));
    const { pages, records } = await readAll(subject, { since: atMinute(1), until: atMinute(3) });
    expect(pages, 'pages: how is the next page requested?').toBeGreaterThanOrEqual(
      getPagesMin(subject),
    );
    expect(records.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  check(
    'returns records that changed after `since` and not after `until`',
    async (subject, skip) => {
      requireCapability(subject, 'readPage', skip);
      if (!subject.hasChangeTimes) skip('the records have no time of change');
      const changes = [0, 2, 4].map((minute) => ({
        record: subject.createValidRecord(`changed ${minute}`),
        changedAt: atMinute(minute),
      }));
      const [idAt0, idAt2, idAt4] = await subject.storeRecords(changes);
      const readIds = async (window: Pick<PageRead, 'since' | 'until'>) =>
        (await readAll(subject, window)).records.map(({ id }) => id).toSorted();
      expect(await readIds({ since: atMinute(1) })).toEqual([idAt2, idAt4].toSorted());
      expect(await readIds({ until: atMinute(2) })).toEqual([idAt0, idAt2].toSorted());
      expect(await readIds({ since: atMinute(1), until: atMinute(3) })).toEqual([idAt2]);
    },
  );

  check('returns an empty last page if nothing changed', async (subject, skip) => {
    requireCapability(subject, 'readPage', skip);
    if (!subject.hasChangeTimes) skip('the records have no time of change');
    await storeTexts(subject, 1, atMinute(0));
    const { pages, records } = await readAll(subject, { since: atMinute(1) });
    expect(records).toEqual([]);
    // Where a vendor may hide records, a second request finds out that the first page was the last one.
    expect(pages).toBeLessThanOrEqual(2);
  });

  check('returns all records if they have no time of change', async (subject, skip) => {
    requireCapability(subject, 'readPage', skip);
    if (subject.hasChangeTimes) skip('the records have a time of change');
    const ids = await storeTexts(subject, countForPages(subject));
    const { records } = await readAll(subject, { since: atMinute(1), until: atMinute(3) });
    expect(records.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  check(
    'filters records by the value of a field, whatever its characters',
    async (subject, skip) => {
      const readPage = requireCapability(subject, 'readPage', skip);
      const { provider, objectName, textField, session } = subject;
      if (subject.canSearch === false || getFiltersMax(provider, objectName) === 0) {
        skip(`${provider.name} does not search ${objectName}`);
      }
      for (const text of ['plain', "O'Neill", 'a^b', 'back\\slash', 'and "quotes"']) {
        const storedRecords = [text, 'another'].map((value) => ({
          record: subject.createValidRecord(value),
          changedAt: atMinute(0),
        }));
        const [id] = await subject.storeRecords(storedRecords);
        const filters = [{ fieldName: textField, value: text }];
        const { records } = await readPage(session, { ...createPageRead(subject), filters });
        expect(records.map((record) => record.id)).toEqual([id]);
      }
    },
  );

  check('throws CURSOR_GONE for an invalid cursor', async (subject, skip) => {
    const readPage = requireCapability(subject, 'readPage', skip);
    const read = { ...createPageRead(subject), cursor: 'not-a-cursor' };
    expect((await catchFailure(readPage(subject.session, read))).kind).toBe('CURSOR_GONE');
  });

  check('reports an unknown object instead of reading it', async (subject, skip) => {
    const readPage = requireCapability(subject, 'readPage', skip);
    const read = { ...createPageRead(subject), objectName: UNKNOWN_OBJECT };
    const failure = await catchFailure(readPage(subject.session, read));
    expect(UNKNOWN_OBJECT_KINDS).toContain(failure.kind);
  });
}
