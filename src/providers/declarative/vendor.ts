/** A vendor with its validated declaration, and the lookup of its objects. */
import type { Behavior } from '../behavior.ts';
import { ProviderError } from '../provider-error.ts';
import type { Declaration, ObjectDeclaration } from './declaration/declaration.ts';
import type { ListDeclaration } from './declaration/list-declaration.ts';
import { readOwn } from './json.ts';

export interface Vendor {
  displayName: string;
  declaration: Declaration;
}

/** Permitted names of objects that are not declared. A name is one segment of a path. */
const OBJECT_NAME = /^[\w-]{1,200}$/;

/** Returns the declared objects, and the declaration for all other objects if there is one. */
export function listDeclaredObjects({
  objects,
  otherObjects,
}: Pick<Declaration, 'objects' | 'otherObjects'>): ObjectDeclaration[] {
  return [...Object.values(objects), ...(otherObjects ? [otherObjects] : [])];
}

/** Returns the declaration of an object. Throws MISSING_OBJECT if there is none. */
export function getObject({ displayName, declaration }: Vendor, name: string): ObjectDeclaration {
  const declaredObject = readOwn(declaration.objects, name);
  const object = declaredObject ?? (OBJECT_NAME.test(name) ? declaration.otherObjects : undefined);
  if (object) return object;
  throw new ProviderError('MISSING_OBJECT', `${displayName} has no object ${name}`);
}

/** The members of an object that a write needs. */
export type WritableObject = Pick<
  ObjectDeclaration,
  'displayName' | 'id' | 'nestedFields' | 'create'
> &
  Partial<Pick<ObjectDeclaration, 'update' | 'createMany' | 'updateMany'>>;

/** Returns the declaration of an object to write. Throws MISSING_OBJECT if there is none. */
export function getWritableObject(vendor: Vendor, name: string): WritableObject {
  const { writeOnlyObjects } = vendor.declaration;
  return readOwn(writeOnlyObjects, name) ?? getObject(vendor, name);
}

/** Returns the behavior of a list: the provider's, with the members that the list overrides. */
export function getBehavior(
  { behavior }: Pick<Declaration, 'behavior'>,
  list: Pick<ListDeclaration, 'behavior'>,
): Behavior {
  return { ...behavior, ...list.behavior };
}
