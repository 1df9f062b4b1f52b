/** Reads and replaces members of JSON by their paths, such as `read.objects[0].schedule`. */

type Json = Record<string, unknown>;

const splitPath = (path: string) => path.split(/[.[\]]+/).filter((step) => step !== '');

/** Returns the value at the path, or undefined if there is none. */
export function getValueAt(value: unknown, path: string): unknown {
  return splitPath(path).reduce<unknown>((inner, step) => (inner as Json | null)?.[step], value);
}

/** Returns a copy with another value at the path. Undefined removes the member. */
export function withValue<T>(value: T, path: string, newValue: unknown): T {
  const copy = structuredClone(value);
  const steps = splitPath(path);
  const lastStep = steps.pop() as string;
  const parent = getValueAt(copy, steps.join('.')) as Json;
  if (newValue === undefined) delete parent[lastStep];
  else parent[lastStep] = newValue;
  return copy;
}
