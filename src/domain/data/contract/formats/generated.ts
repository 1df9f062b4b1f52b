/** Selects the objects and fields of a contract that generated code contains, and names their types. */
import type { Contract, ObjectContract } from '../contract-resource.ts';
import type { FieldContract } from '../field-contract.ts';
import { dropRepeatedNames, toMemberName, toTypeName } from './safe-names.ts';

export interface GeneratedObject extends ObjectContract {
  types: Record<
    'record' | 'create' | 'update' | 'where' | 'connection' | 'edge' | 'changes' | 'change',
    string
  >;
}

export function listGeneratedObjects({ objects }: Contract): GeneratedObject[] {
  return dropRepeatedNames(objects, toTypeName).map((object) => {
    const name = toTypeName(object.name);
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
    return { ...object, fields: dropRepeatedNames(object.fields, toMemberName), types };
  });
}

/** Lists the fields of read records, except the id. */
export function listReadFields({ fields }: ObjectContract): FieldContract[] {
  return fields.filter(({ name, isWriteOnly }) => !isWriteOnly && !isId(name));
}

export function listCreateFields({ fields }: ObjectContract): FieldContract[] {
  return fields.filter(({ isReadOnly }) => !isReadOnly);
}

/** Lists the fields that an update may change. The id is not among them, because it names the record. */
export function listUpdateFields(object: ObjectContract): FieldContract[] {
  return listCreateFields(object).filter(({ name }) => !isId(name));
}

/** True if the field has the name of the record's id in generated code. */
function isId(name: string): boolean {
  return toMemberName(name) === 'id';
}
