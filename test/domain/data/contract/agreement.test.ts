/** For random manifests, configs and accounts, a contract describes what reads deliver and what writes accept. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createContract } from '../../../../src/domain/data/contract/object-contract.ts';
import { createEntry } from '../../../../src/domain/data/operation/read/read-message.ts';
import { createReadPlan } from '../../../../src/domain/data/operation/read/read-plan.ts';
import {
  createFieldNames,
  renameFields,
} from '../../../../src/domain/data/operation/write/record-mapping.ts';
import { FIELD_VALUE_TYPES } from '../../../../src/providers/contract.ts';
import { createInput, createReadConfig } from './contracts.ts';

/** The list is short, so that random fields often have equal names. */
const NAMES = ['email', 'phone', 'score', 'tier', 'owner'];
const name = fc.constantFrom(...NAMES);
const mapping = fc.oneof(
  fc.record({ fieldName: name, mapToName: fc.option(name, { nil: undefined }) }),
  fc.record({ mapToName: name, default: fc.option(name, { nil: undefined }) }),
);

/** Fields that `createRevision` accepts: no name and no field of the provider occurs twice. */
const fields = fc
  .record({ requiredFields: fc.array(mapping), optionalFields: fc.array(mapping) })
  .map((lists) => {
    const names = new Set<string>();
    const isFree = (field: { fieldName?: string; mapToName?: string }) => {
      const keys = [`name ${field.mapToName ?? field.fieldName}`];
      if (field.fieldName) keys.push(`field ${field.fieldName}`);
      if (keys.some((key) => names.has(key))) return false;
      for (const key of keys) names.add(key);
      return true;
    };
    return {
      requiredFields: lists.requiredFields.filter(isFree),
      optionalFields: lists.optionalFields.filter(isFree),
    };
  });

const arbitrarySample = fc.record({
  fields,
  optionalFieldsAuto: fc.constantFrom('ALL' as const, undefined),
  inheritMapping: fc.boolean(),
  allowAnyFields: fc.boolean(),
  selectedFields: fc.subarray(NAMES),
  selectedFieldsAuto: fc.constantFrom('ALL' as const, undefined),
  fieldMappings: fc.array(fc.record({ fieldName: name, mapToName: name })),
  account: fc.uniqueArray(
    fc.record({
      fieldName: name,
      valueType: fc.constantFrom(...FIELD_VALUE_TYPES),
      readOnly: fc.boolean(),
    }),
    { selector: ({ fieldName }) => fieldName },
  ),
});

function createCase(sample: typeof arbitrarySample extends fc.Arbitrary<infer T> ? T : never) {
  const { optionalFieldsAuto, inheritMapping, allowAnyFields } = sample;
  const { selectedFields, selectedFieldsAuto, fieldMappings, account } = sample;
  const input = createInput({
    content: {
      read: createReadConfig({ ...sample.fields, optionalFieldsAuto }),
      write: {
        objects: [{ objectName: 'contacts', inheritMapping, valueDefaults: { allowAnyFields } }],
      },
    },
    config: {
      read: [{ objectName: 'contacts', selectedFields, selectedFieldsAuto, fieldMappings }],
      write: [{ objectName: 'contacts' }],
    },
    account: { contacts: account },
  });
  const contract = createContract(input);
  const { content, config } = input;
  const readPlan = createReadPlan(content.read!.objects[0]!, config!.read[0]!, { pageSize: 1 });
  const accountFields = account.map(({ fieldName }) => fieldName);
  const readFields = readPlan.readsAll
    ? [...new Set([...readPlan.fields, ...accountFields])]
    : readPlan.fields;
  return {
    contract,
    object: contract.objects[0]!,
    readPlan: { ...readPlan, fields: readFields },
    names: createFieldNames(content, config!, content.write!.objects[0]!),
  };
}

test('contains each field of a read record, with the value of its provider field', () => {
  fc.assert(
    fc.property(arbitrarySample, (sample) => {
      const { object, readPlan } = createCase(sample);
      const values = Object.fromEntries(NAMES.map((field) => [field, `value of ${field}`]));
      const entry = createEntry({ id: '1', fields: values, raw: values }, readPlan);
      const record: Record<string, unknown> = { ...entry.fields, ...entry.mappedFields };
      const readFields = object.fields.filter(
        ({ isWriteOnly, providerField }) => !isWriteOnly && providerField !== null,
      );
      for (const { name: field, providerField } of readFields) {
        expect(record[field]).toBe(values[providerField!]);
      }
      const unmappedFields = object.fields.filter(({ providerField }) => providerField === null);
      expect(unmappedFields.map(({ name: field }) => field)).toEqual(readPlan.unmappedNames);
      // Every member of a record is in the contract, under its mapped name if it has one.
      const providerFields = new Set(readFields.map(({ providerField }) => providerField));
      const readNames = new Set(object.fields.map(({ name: field }) => field));
      const missingFields = readPlan.fields.filter(
        (field) => !providerFields.has(field) && !readNames.has(field),
      );
      expect(missingFields).toEqual([]);
    }),
  );
});

test('contains exactly the fields that a write accepts', () => {
  fc.assert(
    fc.property(arbitrarySample, (sample) => {
      const { object, names } = createCase(sample);
      const readOnlyAtProvider = new Set(
        sample.account.filter(({ readOnly }) => readOnly).map(({ fieldName }) => fieldName),
      );
      for (const { name: field, providerField, isReadOnly } of object.fields) {
        const { record, omitted } = renameFields({ record: { [field]: 'x' }, path: [] }, names);
        if (!isReadOnly) expect(record).toEqual({ [providerField!]: 'x' });
        else if (providerField === null || !readOnlyAtProvider.has(providerField)) {
          // If names are not translated, the provider gets the field's name, which is another field's or no field's.
          const isRefused = omitted.includes(field) || !Object.hasOwn(record, providerField ?? '');
          expect(isRefused).toBe(true);
        }
      }
    }),
  );
});

test('has the same hash for equal inputs, and distinct field names', () => {
  fc.assert(
    fc.property(arbitrarySample, (sample) => {
      const { contract, object } = createCase(sample);
      expect(createCase(sample).contract.hash).toBe(contract.hash);
      const fieldNames = object.fields.map(({ name: field }) => field);
      expect(new Set(fieldNames).size).toBe(fieldNames.length);
    }),
  );
});
