/** The objects of an account: those of the declaration, and what the vendor lists beside them. */
import type { ObjectSummary, ProviderSession } from '../contract.ts';
import { objectDeclaration } from './declaration/declaration.ts';
import type { Vendor } from './failure.ts';
import { findId, valueAt } from './json.ts';
import { readList } from './reading/list-page.ts';

/** More than anybody chooses from; a list without an end has one here. */
const OBJECTS_MAX = 10_000;

export async function listObjects(
  vendor: Vendor,
  session: ProviderSession,
): Promise<ObjectSummary[]> {
  const { objects, objectList } = vendor.declaration;
  const known = Object.entries(objects).map(([name, { displayName }]) => ({ name, displayName }));
  const found = new Map(known.map((one) => [one.name, one]));
  if (!objectList) return known;
  const { list, name, displayName } = objectList;
  const object = objectDeclaration.parse({ displayName: 'Objects', id: name, all: list });
  const pageSize = list.size?.max ?? OBJECTS_MAX;
  let cursor: string | undefined;
  do {
    const read = { objectName: 'objects', fields: [], pageSize, cursor };
    const page = await readList(vendor, session, { object, read, variables: {} });
    for (const { id, raw } of page.records) {
      found.set(id, { name: id, displayName: findId(valueAt(raw, displayName)) ?? id });
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && found.size < OBJECTS_MAX);
  return [...found.values()];
}
