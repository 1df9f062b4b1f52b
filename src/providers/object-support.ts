/** What a provider takes for one object, if that is less than for others. */
import type { Provider } from './contract.ts';

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
