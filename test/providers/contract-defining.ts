/** The provider contract for creating fields. */
import { expect, test } from 'vitest';
import type { FieldDefinition } from '../../src/providers/defining-fields.ts';
import {
  type ContractSubject,
  catchFailure,
  declared,
  type MakeSubject,
  UNKNOWN_OBJECT,
  UNKNOWN_OBJECT_KINDS,
} from './contract-subject.ts';

/** A text field, unless the argument says otherwise. */
function definition(
  { newField = '' }: ContractSubject,
  changes: Partial<FieldDefinition> = {},
): FieldDefinition {
  return {
    fieldName: newField,
    displayName: 'Hobby',
    valueType: 'STRING',
    description: null,
    required: null,
    unique: null,
    indexed: null,
    stringOptions: null,
    numericOptions: null,
    association: null,
    ...changes,
  };
}

function choices(...values: string[]): Pick<FieldDefinition, 'valueType' | 'stringOptions'> {
  const others = { length: null, pattern: null, valuesRestricted: true, defaultValue: null };
  return { valueType: 'SINGLE_SELECT', stringOptions: { values, ...others } };
}

const NOTHING_DONE = { action: 'NONE', error: null };

export function defineTests(makeSubject: MakeSubject): void {
  test('declares the types, names and options of fields that it honours', async (context) => {
    await using subject = await makeSubject();
    const { types, options, names } = declared(subject, 'defineFields', context);
    expect(types).toContain('STRING');
    expect(types).not.toContain('OTHER');
    expect(options).toContain('stringOptions.values');
    expect(subject.newField).toMatch(names.pattern);
    for (const hostile of ['', 'a b', "a'b", 'a/b', 'a.b', '../a', '__proto__']) {
      expect(hostile).not.toMatch(names.pattern);
    }
    expect(names.rule).toMatch(/^must .+\.$/);
  });

  test('creates a field once as defined, and describes it', async (context) => {
    await using subject = await makeSubject();
    const { define } = declared(subject, 'defineFields', context);
    const { session, objectName, provider } = subject;
    const fields = [definition(subject, { description: 'What they like' })];
    const [made] = await define(session, { objectName, fields });
    expect(made).toMatchObject({ action: 'CREATE', error: null, metadata: expect.any(Object) });
    const description = await provider.capabilities.describeObject?.(session, objectName);
    const name = subject.newField?.toLowerCase();
    expect(description?.fields.find(({ fieldName }) => fieldName === name)).toMatchObject({
      displayName: 'Hobby',
      valueType: 'STRING',
      isCustom: true,
      readOnly: false,
    });
    expect(await define(session, { objectName, fields })).toMatchObject([NOTHING_DONE]);
  });

  test('creates fields of every declared type', async (context) => {
    await using subject = await makeSubject();
    const { define, types } = declared(subject, 'defineFields', context);
    const { session, objectName, newField = '' } = subject;
    const to = { targetField: null, cardinality: null, onDelete: null, required: null };
    const more = { reverseLookupFieldName: null, labels: null };
    const fields = types.map((valueType, index) => {
      const fieldName = newField.replace('obby', `obby${index}`);
      const isSelect = valueType.endsWith('_SELECT');
      const association =
        valueType === 'REFERENCE'
          ? { associationType: 'lookup', targetObject: objectName, ...to, ...more }
          : null;
      return {
        ...definition(subject, isSelect ? choices('a', 'b') : {}),
        ...{ fieldName, valueType, association },
      };
    });
    const created = await define(session, { objectName, fields });
    expect(created.map(({ action, error }) => ({ action, error }))).toEqual(
      types.map(() => ({ action: 'CREATE', error: null })),
    );
    const again = await define(session, { objectName, fields });
    expect(again.map(({ action }) => action)).toEqual(types.map(() => 'NONE'));
  });

  test('updates a field that differs, and removes no value of a select field', async (context) => {
    await using subject = await makeSubject();
    const { define } = declared(subject, 'defineFields', context);
    const { session, objectName, provider } = subject;
    const first = [definition(subject, choices('a', 'b'))];
    await define(session, { objectName, fields: first });
    const fields = [definition(subject, { displayName: 'Pastime', ...choices('b', 'c') })];
    const [changed] = await define(session, { objectName, fields });
    expect(changed).toMatchObject({ action: 'UPDATE', error: null });
    const description = await provider.capabilities.describeObject?.(session, objectName);
    const field = description?.fields.find(({ displayName }) => displayName === 'Pastime');
    expect(field?.values?.map(({ value }) => value)).toEqual(['a', 'b', 'c']);
    expect(await define(session, { objectName, fields })).toMatchObject([NOTHING_DONE]);
  });

  test('reports a field that exists with another type, and creates the others', async (context) => {
    await using subject = await makeSubject();
    const { define } = declared(subject, 'defineFields', context);
    const { session, objectName, newField = '' } = subject;
    await define(session, { objectName, fields: [definition(subject)] });
    const other = { ...definition(subject), fieldName: newField.replace('obby', 'abit') };
    const fields = [definition(subject, { valueType: 'DATE' }), other];
    expect(await define(session, { objectName, fields })).toMatchObject([
      { action: 'NONE', error: expect.stringContaining('already') },
      { action: 'CREATE', error: null },
    ]);
  });

  test('reports an unknown object instead of creating fields', async (context) => {
    await using subject = await makeSubject();
    const { define } = declared(subject, 'defineFields', context);
    const definitions = { objectName: UNKNOWN_OBJECT, fields: [definition(subject)] };
    const error = await catchFailure(define(subject.session, definitions));
    expect(UNKNOWN_OBJECT_KINDS).toContain(error.kind);
  });
}

/** One request, for the tests of failures. */
export function defining(subject: ContractSubject): (() => Promise<unknown>) | undefined {
  const { provider, session, objectName } = subject;
  const { defineFields } = provider.capabilities;
  const definitions = { objectName, fields: [definition(subject)] };
  return defineFields && (() => defineFields.define(session, definitions));
}
