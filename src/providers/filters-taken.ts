import type { Provider } from './contract.ts';

/** Conditions on fields that a read of the object takes. */
export function filtersTaken(
  { commonObjects, takes }: Pick<Provider, 'commonObjects' | 'takes'>,
  objectName: string,
): number {
  const object = commonObjects?.find(({ name }) => name === objectName);
  return object?.filters ?? takes.filters ?? 0;
}
