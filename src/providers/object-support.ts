/** Support of a single object, which may be less than the provider's. */
import type { Provider } from './contract.ts';

/** Returns the provider's name of an object, given this name or an alias. */
export function resolveObjectName(
  provider: Pick<Provider, 'objectAliases'> | null,
  name: string,
): string {
  return provider?.objectAliases?.get(name) ?? name;
}

/** Returns the maximum number of conditions in a search of the object. */
export function getFiltersMax(
  { commonObjects, features }: Pick<Provider, 'commonObjects' | 'features'>,
  objectName: string,
): number {
  const object = commonObjects?.find(({ name }) => name === objectName);
  return object?.filtersMax ?? features.filtersMax ?? 0;
}

/** True if records of the object can be read by id. */
export function canReadByIds(
  { commonObjects, capabilities }: Pick<Provider, 'commonObjects' | 'capabilities'>,
  objectName: string,
): boolean {
  const object = commonObjects?.find(({ name }) => name === objectName);
  return capabilities.readRecords !== undefined && object?.canReadByIds !== false;
}
