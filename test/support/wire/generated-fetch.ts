/** Serves fetches of records by their IDs, in a wire format that is generated from a declaration. */
import type { IdLookup } from '../../../src/providers/declarative/declaration/object-declaration.ts';
import { findValue } from '../../../src/providers/declarative/json.ts';
import { listIdVariables } from '../../../src/providers/declarative/record-id.ts';
import type { ServedRequest, ServedResponse } from '../providers/provider-server.ts';
import {
  type DeclaredObject,
  isRequestFor,
  setValue,
  toWholeId,
  writeRecord,
} from './generated-parts.ts';
import type { VendorStore } from './vendor-store.ts';

export function serveFetch(
  declaration: DeclaredObject,
  request: ServedRequest,
  { store }: { store: VendorStore },
): ServedResponse | undefined {
  const { byIds, id } = declaration.object;
  if (!byIds) return undefined;
  const requestedIds = byIds.ids ? readIds(byIds, request, declaration) : null;
  const records = store.records.filter((record) => {
    const text = toWholeId(declaration.object, String(record.id));
    const variables = listIdVariables(id, text);
    if (byIds.ids) return requestedIds?.includes(variables?.[byIds.ids.part ?? 'id'] ?? text);
    return isRequestFor(byIds, request, {
      object: declaration.objectName,
      ...variables,
    });
  });
  if (byIds.ids) {
    if (requestedIds === null) return undefined;
    return {
      status: 200,
      body: setValue(
        {},
        byIds.records,
        records.map((record) => writeRecord(declaration, record)),
      ),
    };
  }
  const [firstRecord] = records;
  return (
    firstRecord && {
      status: 200,
      body: setValue({}, byIds.records, writeRecord(declaration, firstRecord)),
    }
  );
}

/** Returns the IDs in the request, or null if it has none. */
function readIds(
  byIds: IdLookup,
  request: ServedRequest,
  { objectName }: DeclaredObject,
): string[] | null {
  const { ids } = byIds;
  if (!ids || !isRequestFor(byIds, request, { object: objectName })) return null;
  if (ids.in === 'query') return request.query.get(ids.name)?.split(',') ?? null;
  const listedIds = findValue(request.body, ids.name);
  return Array.isArray(listedIds) ? listedIds.map(String) : null;
}
