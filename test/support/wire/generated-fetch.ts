/** Records by their ids, of a wire format that is made from a declaration. */
import type { Fetching } from '../../../src/providers/declarative/declaration/object-declaration.ts';
import { valueAt } from '../../../src/providers/declarative/json.ts';
import { idVariables } from '../../../src/providers/declarative/record-id.ts';
import type { ServedRequest, ServedResponse } from '../providers/provider-server.ts';
import { idText, isAt, put, type Said, shown } from './generated-parts.ts';
import type { VendorStore } from './vendor-store.ts';

export function fetchedResponse(
  said: Said,
  request: ServedRequest,
  { store }: { store: VendorStore },
): ServedResponse | undefined {
  const { byIds, id } = said.object;
  if (!byIds) return undefined;
  const named = byIds.ids ? namedIn(byIds, request, said) : null;
  const found = store.records.filter((record) => {
    const text = idText(said.object, String(record.id));
    if (byIds.ids) return named?.includes(text);
    return isAt(byIds, request, { object: said.objectName, ...idVariables(id, text) });
  });
  if (byIds.ids) {
    if (named === null) return undefined;
    return {
      status: 200,
      body: put(
        {},
        byIds.records,
        found.map((one) => shown(said, one)),
      ),
    };
  }
  const [one] = found;
  return one && { status: 200, body: put({}, byIds.records, shown(said, one)) };
}

/** Null for a request that names no ids. */
function namedIn(byIds: Fetching, request: ServedRequest, { objectName }: Said): string[] | null {
  const { ids } = byIds;
  if (!ids || !isAt(byIds, request, { object: objectName })) return null;
  if (ids.in === 'query') return request.query.get(ids.name)?.split(ids.separator) ?? null;
  const found = valueAt(request.body, ids.name);
  return Array.isArray(found) ? found.map(String) : null;
}
