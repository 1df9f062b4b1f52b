/** Places inside JSON, like `read.objects[0].schedule`. */

type Json = Record<string, unknown>;

const stepsOf = (place: string) => place.split(/[.[\]]+/).filter((step) => step !== '');

/** What is at the place; undefined if there is nothing. */
export function valueAt(value: unknown, place: string): unknown {
  return stepsOf(place).reduce<unknown>((inner, step) => (inner as Json | null)?.[step], value);
}

/** A copy with another value at the place; undefined leaves it out. */
export function withValue<T>(value: T, place: string, given: unknown): T {
  const copy = structuredClone(value);
  const steps = stepsOf(place);
  const last = steps.pop() as string;
  const parent = valueAt(copy, steps.join('.')) as Json;
  if (given === undefined) delete parent[last];
  else parent[last] = given;
  return copy;
}
