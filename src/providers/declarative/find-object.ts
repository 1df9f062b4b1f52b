import { ProviderError } from '../provider-error.ts';
import type { Declaration, ObjectDeclaration } from './declaration/declaration.ts';
import type { Vendor } from './failure.ts';

/** What an account's own objects may be called: a segment of a path. */
const OBJECT_NAME = /^[\w-]{1,200}$/;

/** Those that it names, and the one that stands for any other. */
export function allObjects({
  objects,
  anyObject,
}: Pick<Declaration, 'objects' | 'anyObject'>): ObjectDeclaration[] {
  return [...Object.values(objects), ...(anyObject ? [anyObject] : [])];
}

/** Throws MISSING_OBJECT for an object that the declaration does not have. */
export function findObject({ displayName, declaration }: Vendor, name: string): ObjectDeclaration {
  const object = Object.hasOwn(declaration.objects, name) ? declaration.objects[name] : undefined;
  const found = object ?? (OBJECT_NAME.test(name) ? declaration.anyObject : undefined);
  if (found) return found;
  throw new ProviderError('MISSING_OBJECT', `${displayName} has no object ${name}`);
}
