/** What a provider takes for one object, if that is less than for others. */
import type { Provider } from './contract.ts';

/** The provider's own name of an object that a caller names by it or by an alias. */
export function ownObjectName(
  provider: Pick<Provider, 'objectAliases'> | null,
  name: string,
): string {
  return provider?.objectAliases?.get(name) ?? name;
}

/** Conditions on fields that a read of the object takes. */
export function filtersTaken(
  { commonObjects, takes }: Pick<Provider, 'commonObjects' | 'takes'>,
  objectName: string,
): number {
  const object = commonObjects?.find(({ name }) => name === objectName);
  return object?.filters ?? takes.filters ?? 0;
}

/** Whether the object's records can be read by their ids. */
export function isReadByIds(
  { commonObjects, capabilities }: Pick<Provider, 'commonObjects' | 'capabilities'>,
  objectName: string,
): boolean {
  const object = commonObjects?.find(({ name }) => name === objectName);
  return capabilities.readRecords !== undefined && object?.isReadByIds !== false;
}
