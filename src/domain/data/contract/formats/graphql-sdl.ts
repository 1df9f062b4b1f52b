/** Formats a contract as GraphQL types: a type for the records of each object, and inputs that write them. */
import { parse, print } from 'graphql';
import type { Contract } from '../contract-resource.ts';
import type { FieldContract } from '../field-contract.ts';
import {
  type GeneratedObject,
  listCreateFields,
  listGeneratedObjects,
  listReadFields,
  listUpdateFields,
} from './generated.ts';
import { createEnumNames, hasOtherFields, OTHER_FIELDS, SCALARS } from './graphql-names.ts';
import { describeMember, toMemberName } from './safe-names.ts';

export function formatGraphqlSdl(contract: Contract): string {
  const objects = listGeneratedObjects(contract);
  const enums = createEnumNames(objects);
  const definitions = objects.flatMap((object) => formatTypes(object, enums));
  const text = [
    '"""Any JSON value."""\nscalar JSON',
    '"""A date, like `2026-01-31`."""\nscalar Date',
    '"""A date with a time and an offset from UTC (RFC 3339)."""\nscalar DateTime',
    ...definitions,
  ].join('\n');
  return `# Contract ${contract.hash}. Generated: do not edit.\n${print(parse(text))}\n`;
}

function formatTypes(object: GeneratedObject, enums: ReadonlyMap<FieldContract, string>): string[] {
  const { verbs, types, displayName } = object;
  const formatMember = (field: FieldContract, isRequired = false) =>
    `${formatComment(describeMember(field))}${toMemberName(field.name)}: ${formatType(field, enums)}${isRequired ? '!' : ''}`;
  const otherFields = hasOtherFields(object)
    ? [`"Further fields of the provider, by its names."\n${OTHER_FIELDS}: JSON`]
    : [];
  const comment = formatComment(displayName);
  const definitions = object.fields.flatMap((field) => {
    const name = enums.get(field);
    const values = field.values?.map(
      ({ value, displayValue }) => `${formatComment(displayValue)}${value}`,
    );
    return name && values ? [`enum ${name} { ${values.join('\n')} }`] : [];
  });
  const add = (kind: 'type' | 'input', name: string, members: string[]) => {
    // GraphQL has no types without fields.
    if (members.length > 0)
      definitions.push(`${comment}${kind} ${name} {\n${members.join('\n')}\n}`);
  };
  if (verbs.includes('LIST')) {
    add('type', types.record, [
      'id: ID!',
      ...listReadFields(object).map((field) => formatMember(field)),
    ]);
  }
  if (verbs.includes('CREATE')) {
    const members = listCreateFields(object).map((field) => formatMember(field, field.isRequired));
    add('input', types.create, [...members, ...otherFields]);
  }
  if (verbs.includes('UPDATE')) {
    add('input', types.update, [
      ...listUpdateFields(object).map((field) => formatMember(field)),
      ...otherFields,
    ]);
  }
  return definitions;
}

function formatType(field: FieldContract, enums: ReadonlyMap<FieldContract, string>): string {
  const itemType = enums.get(field) ?? SCALARS[field.type];
  return field.isList ? `[${itemType}!]` : itemType;
}

function formatComment(text: string | null): string {
  return text === null ? '' : `${JSON.stringify(text)}\n`;
}
