/** The provider contract for creating fields. */
import { expect } from 'vitest';
import type { FieldDefinition } from '../../src/providers/defining-fields.ts';
import {
  type AddCheck,
  type ContractSubject,
  catchFailure,
  requireCapability,
  UNKNOWN_OBJECT,
  UNKNOWN_OBJECT_KINDS,
} from './contract-subject.ts';

/** Returns the definition of a text field, with the given changes. */
function createDefinition(
  { newFieldName = '' }: ContractSubject,
  changes: Partial<FieldDefinition> = {},
): FieldDefinition {
  return {
    fieldName: newFieldName,
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

function createOptions(...values: string[]): Pick<FieldDefinition, 'valueType' | 'stringOptions'> {
  const noOptions = { length: null, pattern: null, valuesRestricted: true, defaultValue: null };
  return { valueType: 'SINGLE_SELECT', stringOptions: { values, ...noOptions } };
}

const UNCHANGED = { action: 'NONE', error: null };

export function checkDefining(check: AddCheck): void {
  check(
    'declares the types, names and options of fields that it supports',
    async (subject, skip) => {
      const { types, options, names } = requireCapability(subject, 'defineFields', skip);
      expect(types).toContain('STRING');
      expect(types).not.toContain('OTHER');
      expect(options).toContain('stringOptions.values');
      expect(subject.newFieldName).toMatch(names.pattern);
      for (const hostile of ['', 'a b', "a'b", 'a/b', 'a.b', '../a', '__proto__']) {
        expect(hostile).not.toMatch(names.pattern);
      }
      expect(names.rule).toMatch(/^must .+\.$/);
    },
  );

  check('creates a field once as defined, and describes it', async (subject, skip) => {
    const { define } = requireCapability(subject, 'defineFields', skip);
    const { session, objectName, provider } = subject;
    const fields = [createDefinition(subject, { description: 'What they like' })];
    const [outcome] = await define(session, { objectName, fields });
    expect(outcome).toMatchObject({ action: 'CREATE', error: null, metadata: expect.any(Object) });
    const description = await provider.capabilities.describeObject?.(session, objectName);
    const name = subject.newFieldName?.toLowerCase();
    expect(description?.fields.find(({ fieldName }) => fieldName === name)).toMatchObject({
      displayName: 'Hobby',
      valueType: 'STRING',
      isCustom: true,
      readOnly: false,
    });
    expect(await define(session, { objectName, fields })).toMatchObject([UNCHANGED]);
  });

  check('creates fields of every declared type', async (subject, skip) => {
    const { define, types } = requireCapability(subject, 'defineFields', skip);
    const { session, objectName, newFieldName = '' } = subject;
    const to = { targetField: null, cardinality: null, onDelete: null, required: null };
    const otherMembers = { reverseLookupFieldName: null, labels: null };
    const fields = types.map((valueType, index) => {
      const fieldName = newFieldName.replace('obby', `obby${index}`);
      const isSelect = valueType.endsWith('_SELECT');
      const association =
        valueType === 'REFERENCE'
          ? { associationType: 'lookup', targetObject: objectName, ...to, ...otherMembers }
          : null;
      return {
        ...createDefinition(subject, isSelect ? createOptions('a', 'b') : {}),
        ...{ fieldName, valueType, association },
      };
    });
    const outcomes = await define(session, { objectName, fields });
    expect(outcomes.map(({ action, error }) => ({ action, error }))).toEqual(
      types.map(() => ({ action: 'CREATE', error: null })),
    );
    const repeatedOutcomes = await define(session, { objectName, fields });
    expect(repeatedOutcomes.map(({ action }) => action)).toEqual(types.map(() => 'NONE'));
  });

  check(
    'updates a field that differs, and removes no value of a select field',
    async (subject, skip) => {
      const { define } = requireCapability(subject, 'defineFields', skip);
      const { session, objectName, provider } = subject;
      const existingFields = [createDefinition(subject, createOptions('a', 'b'))];
      await define(session, { objectName, fields: existingFields });
      const fields = [
        createDefinition(subject, { displayName: 'Pastime', ...createOptions('b', 'c') }),
      ];
      const [outcome] = await define(session, { objectName, fields });
      expect(outcome).toMatchObject({ action: 'UPDATE', error: null });
      const description = await provider.capabilities.describeObject?.(session, objectName);
      const field = description?.fields.find(({ displayName }) => displayName === 'Pastime');
      expect(field?.values?.map(({ value }) => value)).toEqual(['a', 'b', 'c']);
      expect(await define(session, { objectName, fields })).toMatchObject([UNCHANGED]);
    },
  );

  check(
    'reports a field that exists with another type, and creates the others',
    async (subject, skip) => {
      const { define } = requireCapability(subject, 'defineFields', skip);
      const { session, objectName, newFieldName = '' } = subject;
      await define(session, { objectName, fields: [createDefinition(subject)] });
      const otherField = {
        ...createDefinition(subject),
        fieldName: newFieldName.replace('obby', 'abit'),
      };
      const fields = [createDefinition(subject, { valueType: 'DATE' }), otherField];
      expect(await define(session, { objectName, fields })).toMatchObject([
        { action: 'NONE', error: expect.stringContaining('already') },
        { action: 'CREATE', error: null },
      ]);
    },
  );

  check('reports an unknown object instead of creating fields', async (subject, skip) => {
    const { define } = requireCapability(subject, 'defineFields', skip);
    const definitions = { objectName: UNKNOWN_OBJECT, fields: [createDefinition(subject)] };
    const error = await catchFailure(define(subject.session, definitions));
    expect(UNKNOWN_OBJECT_KINDS).toContain(error.kind);
  });
}

/** Returns a function that defines a field, for the tests of failures. */
export function createDefineRequest(
  subject: ContractSubject,
): (() => Promise<unknown>) | undefined {
  const { provider, session, objectName } = subject;
  const { defineFields } = provider.capabilities;
  const definitions = { objectName, fields: [createDefinition(subject)] };
  return defineFields && (() => defineFields.define(session, definitions));
}
