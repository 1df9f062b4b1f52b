/** A customer's choices of the records and values of an object to read. */
import type { DynamicMapping as DynamicMappingShape } from '../../domain/installation/choice/dynamic-mapping.ts';
import type { FieldFilter as FieldFilterShape } from '../../domain/installation/choice/field-filter.ts';
import type { ValueMapping as ValueMappingShape } from '../../domain/installation/choice/value-mapping.ts';
import { enumType } from '../schema/inputs.ts';
import { builder } from '../schema/schema-builder.ts';

const nullable = true;

const FilterOperator = enumType('FilterOperator', 'How a field is compared with a value.', {
  EQ: 'It is equal.',
});

export const FieldFilter = builder.objectRef<FieldFilterShape>('FieldFilter').implement({
  description: 'A condition on a field.',
  fields: (t) => ({
    fieldName: t.exposeString('fieldName', { description: "The provider's name of the field." }),
    operator: t.field({
      type: FilterOperator,
      description: 'How the value is compared.',
      resolve: ({ operator }) => operator,
    }),
    value: t.field({
      type: 'JSON',
      description: 'What the field must be: a text, a number or a boolean.',
      resolve: ({ value }) => value,
    }),
  }),
});

const MappedValue = builder
  .objectRef<ValueMappingShape['values'][number]>('MappedValue')
  .implement({
    description: 'A value, and what stands for it.',
    fields: (t) => ({
      deliveredValue: t.exposeString('deliveredValue', {
        description: "The builder's value, in messages and writes.",
      }),
      providerValue: t.exposeString('providerValue', {
        description: 'The value that the provider has for it.',
      }),
    }),
  });

export const ValueMapping = builder.objectRef<ValueMappingShape>('ValueMapping').implement({
  description: 'Values of a field that are delivered as other values, and written back.',
  fields: (t) => ({
    fieldName: t.exposeString('fieldName', {
      description: "The name of the field: the provider's or the mapped one.",
    }),
    values: t.field({
      type: [MappedValue],
      description: 'The values, one for one. Others stay as they are.',
      resolve: ({ values }) => values,
    }),
  }),
});

const OfferedValue = builder
  .objectRef<DynamicMappingShape['mappedValues'][number]>('OfferedValue')
  .implement({
    description: "A value of the builder's that people map to one of the provider's.",
    fields: (t) => ({
      mappedValue: t.exposeString('mappedValue', { description: "The builder's value." }),
      mappedDisplayValue: t.exposeString('mappedDisplayValue', {
        description: 'The value as people see it.',
      }),
    }),
  });

export const DynamicMapping = builder.objectRef<DynamicMappingShape>('DynamicMapping').implement({
  description: 'A name that is mapped to a field, beside those that the integration has.',
  fields: (t) => ({
    mapToName: t.exposeString('mapToName', {
      description: "The builder's name of the field in messages and writes.",
    }),
    mapToDisplayName: t.exposeString('mapToDisplayName', {
      nullable,
      description: 'The name that people see.',
    }),
    prompt: t.exposeString('prompt', {
      nullable,
      description: 'What people are told when they map it.',
    }),
    fieldName: t.exposeString('fieldName', {
      nullable,
      description: "The provider's field for the name, unless fieldMappings say another.",
    }),
    mappedValues: t.field({
      type: [OfferedValue],
      description: 'The values that pages offer to be mapped.',
      resolve: ({ mappedValues }) => mappedValues,
    }),
  }),
});
