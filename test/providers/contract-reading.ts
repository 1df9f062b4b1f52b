/** The provider contract for reading and describing records. */
import { expect, test } from 'vitest';
import { FIELD_VALUE_TYPES } from '../../src/providers/contract.ts';
import type { PageRead } from '../../src/providers/moving-records.ts';
import { getFiltersMax } from '../../src/providers/object-support.ts';
import {
  type ContractSubject,
  catchFailure,
  createPageRead,
  declared,
  type MakeSubject,
  minute,
  readAll,
  severalPages,
  storeTexts,
  UNKNOWN_OBJECT,
  UNKNOWN_OBJECT_KINDS,
} from './contract-subject.ts';

export function metadataTests(makeSubject: MakeSubject): void {
  test('describes an object by fields of known types and unique names', async (context) => {
    await using subject = await makeSubject();
    const describeObject = declared(subject, 'describeObject', context);
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

  test('reports an unknown object instead of describing it', async (context) => {
    await using subject = await makeSubject();
    const describeObject = declared(subject, 'describeObject', context);
    const error = await catchFailure(describeObject(subject.session, UNKNOWN_OBJECT));
    expect(UNKNOWN_OBJECT_KINDS).toContain(error.kind);
  });
}

function leastPages({ isPaged }: ContractSubject): number {
  return isPaged === false ? 1 : 3;
}

export function readTests(makeSubject: MakeSubject): void {
  test('returns each record exactly once, page by page', async (context) => {
    await using subject = await makeSubject();
    declared(subject, 'readPage', context);
    const ids = await storeTexts(subject, severalPages(subject));
    const { pages, records } = await readAll(subject);
    expect(pages, 'pages: what leads to the next one?').toBeGreaterThanOrEqual(leastPages(subject));
    expect(records.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test('returns each changed record exactly once, page by page', async (context) => {
    await using subject = await makeSubject();
    declared(subject, 'readPage', context);
    if (!subject.tellsChanges) context.skip('the vendor tells no changes');
    await subject.storeRecords([{ record: subject.validRecord('before'), changedAt: minute(0) }]);
    const ids = await storeTexts(subject, severalPages(subject), minute(2));
    const { pages, records } = await readAll(subject, { since: minute(1), until: minute(3) });
    expect(pages, 'pages: what leads to the next one?').toBeGreaterThanOrEqual(leastPages(subject));
    expect(records.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test('returns records that changed after `since` and not after `until`', async (context) => {
    await using subject = await makeSubject();
    declared(subject, 'readPage', context);
    if (!subject.tellsChanges) context.skip('the vendor tells no changes');
    const changes = [0, 2, 4].map((n) => ({
      record: subject.validRecord(`changed ${n}`),
      changedAt: minute(n),
    }));
    const [first, second, third] = await subject.storeRecords(changes);
    const read = async (window: Pick<PageRead, 'since' | 'until'>) =>
      (await readAll(subject, window)).records.map(({ id }) => id).toSorted();
    expect(await read({ since: minute(1) })).toEqual([second, third].toSorted());
    expect(await read({ until: minute(2) })).toEqual([first, second].toSorted());
    expect(await read({ since: minute(1), until: minute(3) })).toEqual([second]);
  });

  test('returns an empty last page if nothing changed', async (context) => {
    await using subject = await makeSubject();
    declared(subject, 'readPage', context);
    if (!subject.tellsChanges) context.skip('the vendor tells no changes');
    await storeTexts(subject, 1, minute(0));
    expect(await readAll(subject, { since: minute(1) })).toEqual({ pages: 1, records: [] });
  });

  test('returns all records if the vendor reports no changes', async (context) => {
    await using subject = await makeSubject();
    declared(subject, 'readPage', context);
    if (subject.tellsChanges) context.skip('the vendor tells changes');
    const ids = await storeTexts(subject, severalPages(subject));
    const { records } = await readAll(subject, { since: minute(1), until: minute(3) });
    expect(records.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test('filters records by the value of a field, whatever its characters', async (context) => {
    await using subject = await makeSubject();
    const readPage = declared(subject, 'readPage', context);
    const { provider, objectName, textField, session } = subject;
    if (subject.isSearched === false || getFiltersMax(provider, objectName) === 0) {
      context.skip(`${provider.name} does not search ${objectName}`);
    }
    for (const text of ['plain', "O'Neill", 'a^b', 'back\\slash', 'and "quotes"']) {
      const stored = [text, 'another'].map((value) => ({
        record: subject.validRecord(value),
        changedAt: minute(0),
      }));
      const [id] = await subject.storeRecords(stored);
      const filters = [{ fieldName: textField, value: text }];
      const { records } = await readPage(session, { ...createPageRead(subject), filters });
      expect(records.map((record) => record.id)).toEqual([id]);
    }
  });

  test('throws CURSOR_GONE for an invalid cursor', async (context) => {
    await using subject = await makeSubject();
    const readPage = declared(subject, 'readPage', context);
    const read = { ...createPageRead(subject), cursor: 'not-a-cursor' };
    expect((await catchFailure(readPage(subject.session, read))).kind).toBe('CURSOR_GONE');
  });

  test('reports an unknown object instead of reading it', async (context) => {
    await using subject = await makeSubject();
    const readPage = declared(subject, 'readPage', context);
    const read = { ...createPageRead(subject), objectName: UNKNOWN_OBJECT };
    const error = await catchFailure(readPage(subject.session, read));
    expect(UNKNOWN_OBJECT_KINDS).toContain(error.kind);
  });
}
