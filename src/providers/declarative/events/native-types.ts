/** Finds the event types of an object. */
import type { ProviderEventKind } from '../../subscribing.ts';
import type { EventsDeclaration } from '../declaration/events-declaration.ts';

interface NativeType {
  type: string;
  kind: ProviderEventKind;
}

/** Returns the types that name the object. If there are none, returns the types without an object, which apply to it. */
export function listNativeTypes(
  { types, objectsWithoutEvents }: EventsDeclaration,
  objectName: string,
): NativeType[] {
  const declaredTypes = Object.entries(types).map(([type, { object, kind }]) => ({
    type,
    kind,
    object,
  }));
  const objectTypes = declaredTypes.filter(({ object }) => object === objectName);
  if (objectTypes.length > 0 || objectsWithoutEvents.includes(objectName)) return objectTypes;
  return declaredTypes.filter(({ object }) => object === undefined);
}
