/** The parts of a contract that generated code has, with the names of its types. */
import type { FieldContract } from '../contract-fields.ts';
import type { Contract, ObjectContract } from '../object-contract.ts';
import { memberName, typeName, withDistinctNames } from './safe-names.ts';

export interface GeneratedObject extends ObjectContract {
  types: Record<
    'record' | 'create' | 'update' | 'where' | 'connection' | 'edge' | 'changes' | 'change',
    string
  >;
}

export function generatedObjects({ objects }: Contract): GeneratedObject[] {
  return withDistinctNames(objects, typeName).map((object) => {
    const name = typeName(object.name);
    const types = {
      record: `${name}Record`,
      create: `Create${name}Input`,
      update: `Update${name}Input`,
      where: `${name}Where`,
      connection: `${name}Connection`,
      edge: `${name}Edge`,
      changes: `${name}Changes`,
      change: `${name}Change`,
    };
    return { ...object, fields: withDistinctNames(object.fields, memberName), types };
  });
}

/** The fields of a record that is read, besides its id. */
export function readFields({ fields }: ObjectContract): FieldContract[] {
  return fields.filter(({ name, isWriteOnly }) => !isWriteOnly && !isId(name));
}

export function createdFields({ fields }: ObjectContract): FieldContract[] {
  return fields.filter(({ isReadOnly }) => !isReadOnly);
}

/** The fields that an update may change. The record's id says which record. */
export function updatedFields(object: ObjectContract): FieldContract[] {
  return createdFields(object).filter(({ name }) => !isId(name));
}

/** True if the field has the name of the record's id in generated code. */
function isId(name: string): boolean {
  return memberName(name) === 'id';
}
