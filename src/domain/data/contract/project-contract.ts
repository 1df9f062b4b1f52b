/** Merges the contracts of several integrations by the names of objects and fields. */
import {
  CONTRACT_VERBS,
  type Contract,
  type ContractFinding,
  type ContractVerb,
  type FilterableFields,
  type ObjectContract,
} from './contract-resource.ts';
import type { FieldContract } from './field-contract.ts';
import { findSharedType, UNKNOWN_TYPE } from './field-type.ts';
import { createHashedContract } from './object-contract.ts';

/** Merges contracts into one. The order of the contracts determines only the order of the objects and fields. */
export function createProjectContract(contracts: readonly Contract[]): Contract {
  const findings = contracts.flatMap((contract) =>
    contract.findings.filter(({ kind }) => kind !== 'NAME_CLASH'),
  );
  const objectsByName = Map.groupBy(
    contracts.flatMap(({ objects }) => objects),
    ({ name }) => name,
  );
  const objects = [...objectsByName.values()].map((sameNameObjects) =>
    mergeObjects(sameNameObjects, findings),
  );
  return createHashedContract(objects, findings);
}

/** Merges objects with the same name. Adds findings about fields whose types contradict each other. */
function mergeObjects(
  objects: readonly ObjectContract[],
  findings: ContractFinding[],
): ObjectContract {
  const [first, ...others] = objects as [ObjectContract, ...ObjectContract[]];
  if (others.length === 0) return first;
  const fieldsByName = Map.groupBy(
    objects.flatMap((object) => object.fields.map((field) => ({ field, object }))),
    ({ field }) => field.name,
  );
  return {
    name: first.name,
    displayName: objects.find(({ displayName }) => displayName !== null)?.displayName ?? null,
    sources: objects.flatMap(({ sources }) => sources),
    verbs: CONTRACT_VERBS.filter((verb) => objects.some(({ verbs }) => verbs.includes(verb))),
    filterable: intersectConditions(objects),
    acceptsOtherFields: objects.some(({ acceptsOtherFields }) => acceptsOtherFields),
    fields: [...fieldsByName.values()].map((sourceFields) =>
      mergeFields(sourceFields, { objects, findings }),
    ),
  };
}

/** Returns the conditions that every searchable source supports. */
function intersectConditions(objects: readonly ObjectContract[]): FilterableFields {
  const filterables = objects
    .filter(({ verbs }) => verbs.includes('SEARCH'))
    .map(({ filterable }) => filterable);
  const [first, ...others] = filterables;
  if (!first) return { fields: [], conditionsMax: 0 };
  return {
    fields: first.fields.filter((name) => others.every(({ fields }) => fields.includes(name))),
    conditionsMax: Math.min(...filterables.map(({ conditionsMax }) => conditionsMax)),
  };
}

interface SourceField {
  field: FieldContract;
  object: ObjectContract;
}

function mergeFields(
  sourceFields: readonly SourceField[],
  { objects, findings }: { objects: readonly ObjectContract[]; findings: ContractFinding[] },
): FieldContract {
  const fields = sourceFields.map(({ field }) => field);
  const [first] = fields as [FieldContract, ...FieldContract[]];
  const type = findSharedType(fields);
  if (type === null) findings.push(createTypeConflict(sourceFields));
  const mergedType = type ?? UNKNOWN_TYPE;
  const isTrueForAllObjects = (verb: ContractVerb, member: 'isRequired' | 'isAlwaysRead') => {
    const verbObjects = objects.filter(({ verbs }) => verbs.includes(verb));
    const isTrue = (object: ObjectContract) =>
      object.fields.some((field) => field.name === first.name && field[member]);
    return verbObjects.length > 0 && verbObjects.every(isTrue);
  };
  return {
    ...first,
    type: mergedType.type,
    isList: mergedType.isList,
    isTypeKnown: mergedType.isTypeKnown,
    providerField: findSharedValue(fields.map(({ providerField }) => providerField)),
    isRequired: isTrueForAllObjects('CREATE', 'isRequired'),
    isReadOnly: fields.every(({ isReadOnly }) => isReadOnly),
    isWriteOnly: fields.every(({ isWriteOnly }) => isWriteOnly),
    isAlwaysRead: isTrueForAllObjects('LIST', 'isAlwaysRead'),
    values: mergedType.type === 'ENUM' ? mergeValues(fields.map(({ values }) => values)) : null,
    references: mergedType.type === 'REFERENCE' ? mergeReferences(fields) : null,
    description: fields.find(({ description }) => description !== null)?.description ?? null,
    origin: findSharedValue(fields.map(({ origin }) => origin)) ?? 'OPTIONAL',
  };
}

function findSharedValue<T>(values: readonly T[]): T | null {
  const [first, ...others] = values;
  return first !== undefined && others.every((value) => value === first) ? first : null;
}

/** Returns all values of the sources. Null if the values of any source are unknown. */
function mergeValues(lists: readonly FieldContract['values'][]): FieldContract['values'] {
  if (lists.includes(null)) return null;
  const values = lists.flatMap((list) => list ?? []);
  return [...new Map(values.map((value) => [value.value, value])).values()];
}

function mergeReferences(fields: readonly FieldContract[]): string[] | null {
  if (fields.some(({ references }) => references === null)) return null;
  return [...new Set(fields.flatMap(({ references }) => references ?? []))];
}

function createTypeConflict(sourceFields: readonly SourceField[]): ContractFinding {
  const locations = sourceFields
    .filter(({ field }) => field.isTypeKnown)
    .map(({ field, object }) => {
      const type = field.isList ? `a list of ${field.type}` : field.type;
      const origins = object.sources.map(
        ({ integration, providerObject }) =>
          `${integration} (${providerObject}.${field.providerField ?? field.name})`,
      );
      return `${type} in ${origins.join(', ')}`;
    });
  const [{ field, object }] = sourceFields as [SourceField, ...SourceField[]];
  return {
    kind: 'TYPE_CONFLICT',
    object: object.name,
    field: field.name,
    message: `The field is ${locations.join(', and ')}. Its type is JSON until they agree: pin one with valueType, or map one of them to another name.`,
  };
}
