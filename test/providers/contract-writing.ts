/** Tests of the provider contract for changing records. */
import { expect } from 'vitest';
import { ProviderError } from '../../src/providers/provider-error.ts';
import {
  type AddCheck,
  type ContractSubject,
  createRecord,
  expectRefusal,
  expectSuccess,
  readAll,
  readTexts,
  readTextsById,
  requireCapability,
  type Skip,
  storeTexts,
  UNKNOWN_OBJECT,
  UNKNOWN_OBJECT_KINDS,
} from './contract-subject.ts';

export function checkWriting(check: AddCheck): void {
  check('creates a record that can be read back', async (subject, skip) => {
    requireCapability(subject, 'writeRecord', skip);
    skipUnlessReturnsId(subject, skip);
    const id = await createRecord(subject, 'written');
    expect(await subject.countRecords()).toBe(1);
    expect(await readTextsById(subject)).toEqual({ [id]: 'written' });
  });

  check(
    'reports success without an id if the vendor does not return one',
    async (subject, skip) => {
      const writeRecord = requireCapability(subject, 'writeRecord', skip);
      if (subject.returnsCreatedId !== false) skip('the vendor returns the id of created records');
      const { objectName, session } = subject;
      const record = subject.createValidRecord('written');
      const outcome = await writeRecord(session, { type: 'CREATE', objectName, record });
      expect(outcome).toEqual({ success: true, recordId: null, data: null, errors: [] });
      expect(Object.values(await readTextsById(subject))).toEqual(['written']);
    },
  );

  check('updates only the named record', async (subject, skip) => {
    const writeRecord = requireCapability(subject, 'writeRecord', skip);
    if (subject.canUpdate === false) skip("records can't be updated");
    const [updatedId = '', otherId = ''] = await storeTexts(subject, 2);
    const outcome = await writeRecord(subject.session, {
      type: 'UPDATE',
      objectName: subject.objectName,
      record: { id: updatedId, [subject.textField]: 'changed' },
    });
    expectSuccess(outcome);
    expect(outcome.recordId).toBe(updatedId);
    expect(await readTextsById(subject)).toEqual({ [updatedId]: 'changed', [otherId]: 'stored 1' });
  });

  check('returns the refusal of a record as its outcome', async (subject, skip) => {
    const writeRecord = requireCapability(subject, 'writeRecord', skip);
    const { objectName, session, invalidRecord, missingId, textField } = subject;
    if (subject.canCreate !== false) {
      const write = { type: 'CREATE', objectName, record: invalidRecord } as const;
      const outcome = await writeRecord(session, write);
      expectRefusal(outcome);
      expect(outcome.recordId).toBeNull();
    }
    expect(await subject.countRecords()).toBe(0);
    if (subject.canUpdate === false) return;
    const record = { id: missingId, [textField]: 'missing' };
    expectRefusal(await writeRecord(session, { type: 'UPDATE', objectName, record }));
    expectRefusal(
      await writeRecord(session, { type: 'UPDATE', objectName, record: { [textField]: 'no id' } }),
    );
    expect(await subject.countRecords()).toBe(0);
  });

  check('never reports success for an unknown object', async (subject, skip) => {
    const writeRecord = requireCapability(subject, 'writeRecord', skip);
    const record = subject.createValidRecord('lost');
    const write = { type: 'CREATE', objectName: UNKNOWN_OBJECT, record } as const;
    const outcome = await writeRecord(subject.session, write).catch((error: unknown) => error);
    if (outcome instanceof ProviderError) expect(UNKNOWN_OBJECT_KINDS).toContain(outcome.kind);
    else expect(outcome).toMatchObject({ success: false });
  });

  check('deletes the named record', async (subject, skip) => {
    const deleteRecord = requireCapability(subject, 'deleteRecord', skip);
    const [deletedId = '', otherId] = await storeTexts(subject, 2);
    const { objectName, session, missingId } = subject;
    const outcome = await deleteRecord(session, { objectName, id: deletedId });
    expectSuccess(outcome);
    expect(outcome.recordId).toBe(deletedId);
    expect(await subject.countRecords()).toBe(1);
    expect((await readAll(subject)).records.map(({ id }) => id)).toEqual([otherId]);
    // Some providers report success for a missing record, others failure, but none throws.
    expect(await deleteRecord(session, { objectName, id: missingId })).toHaveProperty('success');
    expect(await subject.countRecords()).toBe(1);
  });
}

export function checkBatches(check: AddCheck): void {
  check('creates a batch of the declared size in order', async (subject, skip) => {
    const writeBatch = requireCapability(subject, 'writeBatch', skip);
    skipUnlessReturnsId(subject, skip);
    const length = subject.batchSize ?? subject.provider.limits.batchSize;
    const texts = Array.from({ length }, (_, n) => `text ${n}`);
    const outcomes = await writeBatch(subject.session, {
      type: 'CREATE',
      objectName: subject.objectName,
      records: texts.map((text) => ({ record: subject.createValidRecord(text) })),
      allOrNone: false,
    });
    outcomes.forEach(expectSuccess);
    expect(await readTexts(subject, outcomes)).toEqual(texts);
  });

  check(
    'creates the valid records of a batch, and returns the outcomes in order',
    async (subject, skip) => {
      const writeBatch = requireCapability(subject, 'writeBatch', skip);
      skipUnlessReturnsId(subject, skip);
      const outcomes = await writeBatch(subject.session, {
        type: 'CREATE',
        objectName: subject.objectName,
        records: [
          { record: subject.createValidRecord('one') },
          { record: subject.invalidRecord },
          { record: subject.createValidRecord('three') },
        ],
        allOrNone: false,
      });
      expect(outcomes.map(({ success }) => success)).toEqual([true, false, true]);
      expectRefusal(outcomes[1]);
      expect(await readTexts(subject, outcomes)).toEqual(['one', undefined, 'three']);
    },
  );

  check(
    'updates the valid records of a batch, and returns the outcomes in order',
    async (subject, skip) => {
      const writeBatch = requireCapability(subject, 'writeBatch', skip);
      if (subject.canUpdate === false) skip("records can't be updated");
      const [idA = '', idB = ''] = await storeTexts(subject, 2);
      const outcomes = await writeBatch(subject.session, {
        type: 'UPDATE',
        objectName: subject.objectName,
        records: [idB, subject.missingId, idA].map((id, n) => ({
          record: { id, [subject.textField]: `update ${n}` },
        })),
        allOrNone: false,
      });
      expect(outcomes.map(({ success }) => success)).toEqual([true, false, true]);
      expectRefusal(outcomes[1]);
      expect([outcomes[0]?.recordId, outcomes[2]?.recordId]).toEqual([idB, idA]);
      expect(await readTextsById(subject)).toEqual({ [idB]: 'update 0', [idA]: 'update 2' });
    },
  );

  check('creates no record of an all-or-none batch if one is refused', async (subject, skip) => {
    const writeBatch = requireAllOrNone(subject, 'CREATE', skip);
    const outcomes = await writeBatch(subject.session, {
      type: 'CREATE',
      objectName: subject.objectName,
      records: [{ record: subject.createValidRecord('one') }, { record: subject.invalidRecord }],
      allOrNone: true,
    });
    expect(outcomes).toHaveLength(2);
    outcomes.forEach(expectRefusal);
    expect(await subject.countRecords()).toBe(0);
  });

  check('updates no record of an all-or-none batch if one is refused', async (subject, skip) => {
    const writeBatch = requireAllOrNone(subject, 'UPDATE', skip);
    const [storedId = ''] = await storeTexts(subject, 1);
    const textsBefore = await readTextsById(subject);
    const outcomes = await writeBatch(subject.session, {
      type: 'UPDATE',
      objectName: subject.objectName,
      records: [storedId, subject.missingId].map((id) => ({
        record: { id, [subject.textField]: 'updated' },
      })),
      allOrNone: true,
    });
    outcomes.forEach(expectRefusal);
    expect(await readTextsById(subject)).toEqual(textsBefore);
  });
}

/** Skips the test if records can't be created, or if responses lack their ids. */
function skipUnlessReturnsId({ canCreate, returnsCreatedId }: ContractSubject, skip: Skip): void {
  if (canCreate === false) skip("records can't be created");
  if (returnsCreatedId === false) skip('the vendor does not return the id of created records');
}

/** Returns `writeBatch`. Skips the test if the provider does not support all-or-none batches of this type. */
function requireAllOrNone(subject: ContractSubject, type: 'CREATE' | 'UPDATE', skip: Skip) {
  const isDeclared = subject.provider.features.allOrNoneTypes.includes(type);
  if (!isDeclared) skip(`${subject.provider.name} writes the valid records of such a batch`);
  return requireCapability(subject, 'writeBatch', skip);
}
