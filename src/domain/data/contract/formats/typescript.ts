/** Formats a contract as TypeScript declarations (`.d.ts`). */
import type { Contract } from '../contract-resource.ts';
import type { FieldContract } from '../field-contract.ts';
import type { ContractFieldType } from '../field-type.ts';
import {
  type GeneratedObject,
  listCreateFields,
  listGeneratedObjects,
  listReadFields,
  listUpdateFields,
} from './generated.ts';

const JSON_TYPE = `export type Json = string | number | boolean | null | Json[] | { [member: string]: Json };`;

export function formatTypescript(contract: Contract): string {
  const objects = listGeneratedObjects(contract);
  const entries = objects.map((object) => [
    ...formatComment(object.displayName, '  '),
    `  ${formatPropertyName(object.name)}: { ${formatMembers(object).join(' ')} };`,
  ]);
  return [
    `// Contract ${contract.hash}. Generated: do not edit.`,
    JSON_TYPE,
    ...objects.flatMap(formatInterfaces),
    [
      '/** The types of each object, by its name. */',
      'export interface Objects {',
      ...entries.flat(),
      '}',
    ].join('\n'),
    '',
  ].join('\n\n');
}

function formatMembers({ verbs, types }: GeneratedObject): string[] {
  return [
    ...(verbs.includes('LIST') ? [`record: ${types.record};`] : []),
    ...(verbs.includes('CREATE') ? [`create: ${types.create};`] : []),
    ...(verbs.includes('UPDATE') ? [`update: ${types.update};`] : []),
  ];
}

function formatInterfaces(object: GeneratedObject): string[] {
  const { verbs, types, displayName, acceptsOtherFields } = object;
  const id = 'id: string;';
  const otherMembers = acceptsOtherFields ? ['[field: string]: Json | undefined;'] : [];
  const interfaces: string[] = [];
  const add = (name: string, members: string[]) => {
    const lines = members.map((member) => `  ${member}`);
    interfaces.push(
      [...formatComment(displayName, ''), `export interface ${name} {`, ...lines, '}'].join('\n'),
    );
  };
  if (verbs.includes('LIST')) {
    const members = listReadFields(object).flatMap((field) =>
      formatMember(field, field.isAlwaysRead),
    );
    add(types.record, [id, ...members]);
  }
  if (verbs.includes('CREATE')) {
    const members = listCreateFields(object).flatMap((field) =>
      formatMember(field, field.isRequired),
    );
    add(types.create, [...members, ...otherMembers]);
  }
  if (verbs.includes('UPDATE')) {
    const members = listUpdateFields(object).flatMap((field) => formatMember(field, false));
    add(types.update, [id, ...members, ...otherMembers]);
  }
  return interfaces;
}

/** Every field may be null, because a record may have no value for it, and a write may remove its value. */
function formatMember(field: FieldContract, isPresent: boolean): string[] {
  const declaration = `${formatPropertyName(field.name)}${isPresent ? '' : '?'}: ${formatType(field)} | null;`;
  return [...formatComment(field.description, ''), declaration];
}

function formatPropertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

const TYPES: Record<ContractFieldType, string> = {
  STRING: 'string',
  INTEGER: 'number',
  NUMBER: 'number',
  BOOLEAN: 'boolean',
  DATE: 'string',
  DATE_TIME: 'string',
  ENUM: 'string',
  REFERENCE: 'string',
  JSON: 'Json',
};

function formatType({ type, isList, values }: FieldContract): string {
  const itemType = values?.map(({ value }) => JSON.stringify(value)).join(' | ') ?? TYPES[type];
  if (!isList) return itemType;
  return values ? `(${itemType})[]` : `${itemType}[]`;
}

/** Formats a comment. Its text can't contain the end of a comment. */
function formatComment(text: string | null, indent: string): string[] {
  if (text === null) return [];
  return [`${indent}/** ${text.replaceAll(/\s+/g, ' ').replaceAll('*/', '*\\/')} */`];
}
