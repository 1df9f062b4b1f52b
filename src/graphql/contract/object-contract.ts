import type {
  ContractFinding as ContractFindingShape,
  Contract as ContractShape,
  ContractSource as ContractSourceShape,
  FieldContract as FieldContractShape,
  Filterable,
  ObjectContract as ObjectContractShape,
} from '../../domain/contract/object-contract.ts';
import {
  installationContracts,
  projectContracts,
  revisionContracts,
} from '../../domain/contract/read-contract.ts';
import { FieldValue } from '../installation/object-metadata.ts';
import { enumType } from '../schema/inputs.ts';
import { needing } from '../schema/needing.ts';
import { builder } from '../schema/schema-builder.ts';
import { Installation, Project, Revision } from '../schema/types.ts';

const nullable = true;

const ContractVerb = enumType(
  'ContractVerb',
  'What callers may do with the records of an object.',
  {
    LIST: 'List its records.',
    SEARCH: 'List records that meet conditions.',
    READ_BY_ID: 'Read single records by id.',
    CREATE: 'Create records.',
    UPDATE: 'Update records.',
    DELETE: 'Delete records.',
    SUBSCRIBE: 'Get an event for each record that changes at the provider.',
  },
);

const ContractFieldType = enumType('ContractFieldType', 'The type of a field in a contract.', {
  STRING: 'Text.',
  INTEGER: 'A whole number.',
  NUMBER: 'A number.',
  BOOLEAN: 'True or false.',
  DATE: 'A date without a time.',
  DATE_TIME: 'A date with a time.',
  ENUM: 'One of the values that the field lists, if they are known.',
  REFERENCE: 'The id of another record.',
  JSON: 'Any JSON value. If `isTypeKnown` is false, the type is unknown.',
});

const FieldOrigin = enumType('FieldOrigin', 'Who decides that a contract has a field.', {
  REQUIRED: 'The integration requires it of every installation.',
  OPTIONAL: 'The integration offers it, and installations select it.',
  MAPPED: "The name is the integration's, and each installation maps a provider's field to it.",
  EXTRA: 'A field of the account that the integration does not name.',
});

const ContractFindingKind = enumType(
  'ContractFindingKind',
  'Why a contract is less exact than it could be.',
  {
    TYPE_CONFLICT: 'Integrations give one field types that contradict each other.',
    NAME_CLASH: 'Two names are the same in generated code.',
    NOT_DESCRIBED: 'The account could not describe an object.',
  },
);

const ContractSource = builder.objectRef<ContractSourceShape>('ContractSource').implement({
  description: 'An integration that has an object of a contract.',
  fields: (t) => ({
    integration: t.exposeString('integration', { description: 'The name of the integration.' }),
    provider: t.exposeString('provider', { description: 'The name of its provider.' }),
    providerObject: t.exposeString('providerObject', {
      description: "The provider's name of the object.",
    }),
  }),
});

const FilterableFields = builder.objectRef<Filterable>('FilterableFields').implement({
  description: 'The conditions that a search of an object may have.',
  fields: (t) => ({
    fields: t.exposeStringList('fields', {
      description: 'The names of the fields that a condition may name.',
    }),
    conditionsMax: t.exposeInt('conditionsMax', {
      description: 'The most conditions of one search. Zero if the object is not searched.',
    }),
  }),
});

const FieldContract = builder.objectRef<FieldContractShape>('FieldContract').implement({
  description: 'A field of an object in a contract.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: "The builder's name of the field, or the provider's if none is mapped.",
    }),
    providerField: t.exposeString('providerField', {
      nullable,
      description:
        "The provider's field. Null if installations map one, or if the integrations of a project have several.",
    }),
    type: t.expose('type', { type: ContractFieldType, description: 'The type of its values.' }),
    isTypeKnown: t.exposeBoolean('isTypeKnown', {
      description:
        'False if no manifest, provider or account says the type, or if they contradict each other.',
    }),
    isList: t.exposeBoolean('isList', { description: 'Whether a value is a list.' }),
    isRequired: t.exposeBoolean('isRequired', {
      description: 'Whether a new record must have a value.',
    }),
    isReadOnly: t.exposeBoolean('isReadOnly', {
      description: 'Whether a write cannot set the field by this name.',
    }),
    isWriteOnly: t.exposeBoolean('isWriteOnly', {
      description: 'Whether records that are read lack the field by this name.',
    }),
    isAlwaysRead: t.exposeBoolean('isAlwaysRead', {
      description: 'Whether every record that is read has the field. Its value may be null.',
    }),
    values: t.expose('values', {
      type: [FieldValue],
      nullable,
      description: 'The values of an ENUM, with mapped values. Null if they are unknown.',
    }),
    references: t.exposeStringList('references', {
      nullable,
      description:
        'The names of the objects that a REFERENCE may point to. Null if they are unknown.',
    }),
    description: t.exposeString('description', {
      nullable,
      description: 'A text for people. Null if there is none.',
    }),
    origin: t.expose('origin', {
      type: FieldOrigin,
      description: 'Who decides that the contract has the field.',
    }),
  }),
});

const ObjectContract = builder.objectRef<ObjectContractShape>('ObjectContract').implement({
  description: 'An object of a contract, with its fields and what callers may do with its records.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: "The builder's name of the object, or the provider's if none is mapped.",
    }),
    displayName: t.exposeString('displayName', {
      nullable,
      description: 'The name that people see. Null if it is unknown.',
    }),
    sources: t.expose('sources', {
      type: [ContractSource],
      description:
        'The integrations that have the object. Several only in the contract of a project.',
    }),
    verbs: t.expose('verbs', {
      type: [ContractVerb],
      description: 'What at least one of the sources allows and its provider supports.',
    }),
    filterable: t.expose('filterable', {
      type: FilterableFields,
      description: 'The conditions that every searchable source supports.',
    }),
    acceptsOtherFields: t.exposeBoolean('acceptsOtherFields', {
      description: "Whether writes may name further fields, by the provider's names.",
    }),
    fields: t.expose('fields', {
      type: [FieldContract],
      description: 'The fields, in the order of the manifest.',
    }),
  }),
});

const ContractFinding = builder.objectRef<ContractFindingShape>('ContractFinding').implement({
  description: 'A reason why a contract is less exact than it could be.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ContractFindingKind, description: 'The kind of the reason.' }),
    object: t.exposeString('object', { description: 'The name of the object.' }),
    field: t.exposeString('field', {
      nullable,
      description: 'The name of the field. Null if the reason concerns the whole object.',
    }),
    message: t.exposeString('message', {
      description: 'The reason with its places, and what to do.',
    }),
  }),
});

const Contract = builder.objectRef<ContractShape>('Contract').implement({
  description: "Objects and fields under the builder's names, as callers can rely on them.",
  fields: (t) => ({
    hash: t.exposeString('hash', {
      description: 'Equal for contracts with the same objects and findings.',
    }),
    objects: t.expose('objects', { type: [ObjectContract], description: 'The objects.' }),
    findings: t.expose('findings', {
      type: [ContractFinding],
      description: 'Reasons why the contract is less exact than it could be.',
    }),
  }),
});

builder.objectField(Revision, 'contract', (t) =>
  t.field({
    ...needing(revisionContracts),
    type: Contract,
    nullable,
    resolve: (revision, _args, { find }) => find(revisionContracts, revision),
  }),
);

builder.objectField(Installation, 'contract', (t) =>
  t.field({
    ...needing(installationContracts),
    type: Contract,
    nullable,
    resolve: (installation, _args, { find }) => find(installationContracts, installation),
  }),
);

builder.objectField(Project, 'contract', (t) =>
  t.field({
    ...needing(projectContracts),
    type: Contract,
    nullable,
    // DataLoader rejects the items that are errors.
    resolve: (project, _args, { find }) =>
      find(projectContracts, project) as Promise<ContractShape>,
  }),
);
