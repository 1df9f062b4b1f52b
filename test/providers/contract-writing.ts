/** The provider contract for changing records. */
import { expect, type TestContext, test } from 'vitest';
import { ProviderError } from '../../src/providers/provider-error.ts';
import {
  type ContractSubject,
  createRecord,
  declared,
  expectRefusal,
  expectSuccess,
  type MakeSubject,
  readAll,
  readTexts,
  storeTexts,
  textsById,
  UNKNOWN_OBJECT,
  UNKNOWN_OBJECT_KINDS,
} from './contract-subject.ts';

export function writeTests(makeSubject: MakeSubject): void {
  test('creates a record that can be read back', async (context) => {
    await using subject = await makeSubject();
    declared(subject, 'writeRecord', context);
    skipUnlessNamed(subject, context);
    const id = await createRecord(subject, 'written');
    expect(await subject.countRecords()).toBe(1);
    expect(await textsById(subject)).toEqual({ [id]: 'written' });
  });

  test('reports success without an id if the vendor does not name the created record', async (context) => {
    await using subject = await makeSubject();
    const writeRecord = declared(subject, 'writeRecord', context);
    if (subject.namesCreated !== false) context.skip('the vendor names what it created');
    const { objectName, session } = subject;
    const record = subject.validRecord('written');
    const outcome = await writeRecord(session, { type: 'CREATE', objectName, record });
    expect(outcome).toEqual({ success: true, recordId: null, data: null, errors: [] });
    expect(Object.values(await textsById(subject))).toEqual(['written']);
  });

  test('updates only the named record', async (context) => {
    await using subject = await makeSubject();
    const writeRecord = declared(subject, 'writeRecord', context);
    if (subject.updates === false) context.skip('its records are not updated');
    const [changed = '', kept = ''] = await storeTexts(subject, 2);
    const outcome = await writeRecord(subject.session, {
      type: 'UPDATE',
      objectName: subject.objectName,
      record: { id: changed, [subject.textField]: 'changed' },
    });
    expectSuccess(outcome);
    expect(outcome.recordId).toBe(changed);
    expect(await textsById(subject)).toEqual({ [changed]: 'changed', [kept]: 'stored 1' });
  });

  test('returns the refusal of a record as its outcome', async (context) => {
    await using subject = await makeSubject();
    const writeRecord = declared(subject, 'writeRecord', context);
    const { objectName, session, invalidRecord, missingId, textField } = subject;
    if (subject.creates !== false) {
      const created = { type: 'CREATE', objectName, record: invalidRecord } as const;
      const outcome = await writeRecord(session, created);
      expectRefusal(outcome);
      expect(outcome.recordId).toBeNull();
    }
    expect(await subject.countRecords()).toBe(0);
    if (subject.updates === false) return;
    const record = { id: missingId, [textField]: 'nobody' };
    expectRefusal(await writeRecord(session, { type: 'UPDATE', objectName, record }));
    expectRefusal(
      await writeRecord(session, { type: 'UPDATE', objectName, record: { [textField]: 'no id' } }),
    );
    expect(await subject.countRecords()).toBe(0);
  });

  test('never reports success for an unknown object', async (context) => {
    await using subject = await makeSubject();
    const writeRecord = declared(subject, 'writeRecord', context);
    const record = subject.validRecord('lost');
    const write = { type: 'CREATE', objectName: UNKNOWN_OBJECT, record } as const;
    const outcome = await writeRecord(subject.session, write).catch((error: unknown) => error);
    if (outcome instanceof ProviderError) expect(UNKNOWN_OBJECT_KINDS).toContain(outcome.kind);
    else expect(outcome).toMatchObject({ success: false });
  });

  test('deletes the named record', async (context) => {
    await using subject = await makeSubject();
    const deleteRecord = declared(subject, 'deleteRecord', context);
    const [gone = '', kept] = await storeTexts(subject, 2);
    const { objectName, session, missingId } = subject;
    const outcome = await deleteRecord(session, { objectName, id: gone });
    expectSuccess(outcome);
    expect(outcome.recordId).toBe(gone);
    expect(await subject.countRecords()).toBe(1);
    expect((await readAll(subject)).records.map(({ id }) => id)).toEqual([kept]);
    // Some providers report success for a missing record, others failure, but none throws.
    expect(await deleteRecord(session, { objectName, id: missingId })).toHaveProperty('success');
    expect(await subject.countRecords()).toBe(1);
  });
}

export function batchTests(makeSubject: MakeSubject): void {
  test('creates a batch of the declared size in order', async (context) => {
    await using subject = await makeSubject();
    const writeBatch = declared(subject, 'writeBatch', context);
    skipUnlessNamed(subject, context);
    const texts = Array.from({ length: subject.provider.limits.batchSize }, (_, n) => `text ${n}`);
    const outcomes = await writeBatch(subject.session, {
      type: 'CREATE',
      objectName: subject.objectName,
      records: texts.map((text) => ({ record: subject.validRecord(text) })),
      allOrNone: false,
    });
    outcomes.forEach(expectSuccess);
    expect(await readTexts(subject, outcomes)).toEqual(texts);
  });

  test('creates the valid records of a batch, and returns the outcomes in order', async (context) => {
    await using subject = await makeSubject();
    const writeBatch = declared(subject, 'writeBatch', context);
    skipUnlessNamed(subject, context);
    const outcomes = await writeBatch(subject.session, {
      type: 'CREATE',
      objectName: subject.objectName,
      records: [
        { record: subject.validRecord('one') },
        { record: subject.invalidRecord },
        { record: subject.validRecord('three') },
      ],
      allOrNone: false,
    });
    expect(outcomes.map(({ success }) => success)).toEqual([true, false, true]);
    expectRefusal(outcomes[1]);
    expect(await readTexts(subject, outcomes)).toEqual(['one', undefined, 'three']);
  });

  test('updates the valid records of a batch, and returns the outcomes in order', async (context) => {
    await using subject = await makeSubject();
    const writeBatch = declared(subject, 'writeBatch', context);
    if (subject.updates === false) context.skip('its records are not updated');
    const [first = '', second = ''] = await storeTexts(subject, 2);
    const outcomes = await writeBatch(subject.session, {
      type: 'UPDATE',
      objectName: subject.objectName,
      records: [second, subject.missingId, first].map((id, n) => ({
        record: { id, [subject.textField]: `update ${n}` },
      })),
      allOrNone: false,
    });
    expect(outcomes.map(({ success }) => success)).toEqual([true, false, true]);
    expectRefusal(outcomes[1]);
    expect([outcomes[0]?.recordId, outcomes[2]?.recordId]).toEqual([second, first]);
    expect(await textsById(subject)).toEqual({ [second]: 'update 0', [first]: 'update 2' });
  });

  test('creates no record of an all-or-none batch if one is refused', async (context) => {
    await using subject = await makeSubject();
    const writeBatch = declaredAllOrNone(subject, 'CREATE', context);
    const outcomes = await writeBatch(subject.session, {
      type: 'CREATE',
      objectName: subject.objectName,
      records: [{ record: subject.validRecord('one') }, { record: subject.invalidRecord }],
      allOrNone: true,
    });
    expect(outcomes).toHaveLength(2);
    outcomes.forEach(expectRefusal);
    expect(await subject.countRecords()).toBe(0);
  });

  test('updates no record of an all-or-none batch if one is refused', async (context) => {
    await using subject = await makeSubject();
    const writeBatch = declaredAllOrNone(subject, 'UPDATE', context);
    const [known = ''] = await storeTexts(subject, 1);
    const before = await textsById(subject);
    const outcomes = await writeBatch(subject.session, {
      type: 'UPDATE',
      objectName: subject.objectName,
      records: [known, subject.missingId].map((id) => ({
        record: { id, [subject.textField]: 'updated' },
      })),
      allOrNone: true,
    });
    outcomes.forEach(expectRefusal);
    expect(await textsById(subject)).toEqual(before);
  });
}

/** Skips the test if records are not created, or if no response names them. */
function skipUnlessNamed({ creates, namesCreated }: ContractSubject, { skip }: TestContext): void {
  if (creates === false) skip('its records cannot be created');
  if (namesCreated === false) skip('the vendor does not name what it created');
}

/** Skips the test if the provider does not declare all-or-none batches of this type. */
function declaredAllOrNone(
  subject: ContractSubject,
  type: 'CREATE' | 'UPDATE',
  context: TestContext,
) {
  const isDeclared = subject.provider.features.allOrNone.includes(type);
  context.skip(!isDeclared, `${subject.provider.name} takes what it can of such a batch`);
  return declared(subject, 'writeBatch', context);
}
