/** Finds the event types of an object. */
import type { ProviderEventKind } from '../../subscribing.ts';
import type { Events } from '../declaration/events-declaration.ts';

export interface NativeType {
  type: string;
  kind: ProviderEventKind;
}

/** Returns the types that name the object. If no type does, returns the types for every object. */
export function typesFor(
  { types, objectsWithoutEvents }: Events,
  objectName: string,
): NativeType[] {
  const all = Object.entries(types).map(([type, { object, kind }]) => ({ type, kind, object }));
  const named = all.filter(({ object }) => object === objectName);
  if (named.length > 0 || objectsWithoutEvents.includes(objectName)) return named;
  return all.filter(({ object }) => object === undefined);
}
