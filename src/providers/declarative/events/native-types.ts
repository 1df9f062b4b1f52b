/** Which of a vendor's types of events are about an object. */
import type { ProviderEventKind } from '../../subscribing.ts';
import type { Events } from '../declaration/events-declaration.ts';

export interface NativeType {
  type: string;
  kind: ProviderEventKind;
}

/** Those that name the object; if none does, those that hold for every object. */
export function typesAbout({ types, tellNothingOf }: Events, objectName: string): NativeType[] {
  const all = Object.entries(types).map(([type, { object, kind }]) => ({ type, kind, object }));
  const named = all.filter(({ object }) => object === objectName);
  if (named.length > 0 || tellNothingOf.includes(objectName)) return named;
  return all.filter(({ object }) => object === undefined);
}
