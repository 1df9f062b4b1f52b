/** Names of objects and fields, and support of a single object, which may be less than the provider's. */
import type { Provider, StandardNames } from './contract.ts';

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

/**
 * Creates the standard names of a provider from lists that are separated by spaces: the fields of each object, the fields
 * that all of these objects have, and objects whose fields are unknown.
 */
export function createStandardNames(
  fieldsByObject: Readonly<Record<string, string>>,
  commonFields: string,
  otherObjects: string,
): StandardNames {
  const names = new Map<string, readonly string[]>();
  for (const [name, fields] of Object.entries(fieldsByObject)) {
    names.set(name, splitNames(`${commonFields} ${fields}`));
  }
  for (const name of splitNames(otherObjects)) names.set(name, []);
  return names;
}

function splitNames(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** Returns the names of the vendor's own objects and fields. Empty if they are unknown. */
export function getStandardNames({
  standardNames,
  commonObjects = [],
}: Pick<Provider, 'standardNames' | 'commonObjects'>): StandardNames {
  if (standardNames) return standardNames;
  return new Map(
    commonObjects.map(({ name, fields = [] }) => [name, fields.map(({ fieldName }) => fieldName)]),
  );
}
