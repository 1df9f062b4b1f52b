import { ProviderError } from '../contract.ts';
import type { ObjectDeclaration } from './declaration.ts';
import type { Vendor } from './failure.ts';

/** Throws MISSING_OBJECT for an object that the declaration does not have. */
export function findObject({ displayName, declaration }: Vendor, name: string): ObjectDeclaration {
  const object = Object.hasOwn(declaration.objects, name) ? declaration.objects[name] : undefined;
  if (object) return object;
  throw new ProviderError('MISSING_OBJECT', `${displayName} has no object ${name}`);
}
