/** Reads all pages of the account's own list of an object's fields. */
import { isObject } from '../../../work/is-object.ts';
import type { ProviderRequest, ProviderResponse, ProviderSession } from '../../contract.ts';
import { checkCursor } from '../../page-guard.ts';
import { ProviderError } from '../../provider-error.ts';
import type { FieldList } from '../declaration/object-declaration.ts';
import { createFailure, hasSucceeded } from '../failure.ts';
import { findValue, type JsonObject, parseId } from '../json.ts';
import type { Vendor } from '../vendor.ts';
import { findNextParameter, type PageParameter } from './paging.ts';
import { draftRequest, type RequestDraft, setParameter } from './request-draft.ts';

/** Ends reading a list whose pages never end. No account has as many fields. */
const FIELD_PAGES_MAX = 100;

interface FieldsRead {
  fieldList: FieldList;
  objectName: string;
}

/**
 * Returns the fields as the vendor lists them. Throws BAD_REQUEST if the list has too many pages, and RepeatedCursors if its
 * pages repeat.
 */
export async function listAccountFields(
  vendor: Vendor,
  session: ProviderSession,
  { fieldList, objectName }: FieldsRead,
): Promise<JsonObject[]> {
  const { paging = { kind: 'none' } } = fieldList;
  const list = { paging, behavior: vendor.declaration.behavior };
  const fields: JsonObject[] = [];
  let parameter: PageParameter | null = null;
  let mark: string | null = null;
  let pagesRead = 0;
  do {
    const response = await requestFields(vendor, session, { fieldList, objectName, parameter });
    const pageFields = readFields(response, fieldList);
    fields.push(...pageFields);
    const ids = pageFields.map((field) => parseId(findValue(field, fieldList.name)) ?? '');
    // The declared query sets the size of a page, if anything does.
    const page = { response, baseUrl: session.baseUrl, ids, size: null, parameter };
    parameter = findNextParameter(list, page);
    pagesRead += 1;
    if (parameter !== null) mark = checkCursor(String(parameter), { mark, pagesRead });
  } while (parameter !== null && pagesRead < FIELD_PAGES_MAX);
  if (parameter === null) return fields;
  const detail = `${vendor.displayName} lists more than ${FIELD_PAGES_MAX} pages of fields of ${objectName}`;
  throw new ProviderError('BAD_REQUEST', detail);
}

/** Requests a page of the list. The request for the first page has no parameter. */
async function requestFields(
  vendor: Vendor,
  session: ProviderSession,
  { fieldList, objectName, parameter }: FieldsRead & { parameter: PageParameter | null },
): Promise<ProviderResponse> {
  const { path, query, paging } = fieldList;
  const variables = { object: objectName };
  const declaredRequest = { method: 'GET', path, query } as const;
  const request = draftRequest(vendor.declaration, declaredRequest, { variables, session });
  const response = await session.send(
    parameter === null ? request : createNextRequest(request, paging, parameter),
  );
  if (hasSucceeded(vendor, response)) return response;
  throw createFailure(vendor, response);
}

function createNextRequest(
  request: RequestDraft,
  paging: FieldList['paging'],
  parameter: PageParameter,
): ProviderRequest {
  if (!paging || !('parameter' in paging)) {
    // The URL of the next page already contains the query.
    return { method: request.method, path: String(parameter), headers: request.headers };
  }
  setParameter(request, paging.parameter, parameter);
  return request;
}

/** Returns the fields of a page. Throws RETRYABLE if the response has no list. */
function readFields({ body }: ProviderResponse, fieldList: FieldList): JsonObject[] {
  const container = findValue(body, fieldList.fields);
  // Some vendors return a map by name instead of a list.
  const items = isObject(container) ? Object.values(container) : container;
  if (Array.isArray(items)) return items.filter(isObject);
  throw new ProviderError('RETRYABLE', 'The response has no list of fields');
}
