/** Requests one page of a list, and returns the rows of its response. */
import { isObject } from '../../../work/is-object.ts';
import type { ProviderResponse } from '../../contract.ts';
import { ProviderError } from '../../provider-error.ts';
import type { ListDeclaration } from '../declaration/list-declaration.ts';
import { collectMessages, createFailure, createPageFailure, hasSucceeded } from '../failure.ts';
import { findValue } from '../json.ts';
import type { Vendor } from '../vendor.ts';
import { createRequest, type PageRequestContext } from './page-request.ts';
import type { BehavingList } from './paging.ts';

/** The status of a response to If-Modified-Since if nothing has changed. */
const NOT_MODIFIED = 304;
const NO_CONTENT = 204;

/** Requests a page. Throws CURSOR_GONE if the read must restart. */
export async function requestPage(
  vendor: Vendor,
  list: BehavingList,
  context: PageRequestContext,
): Promise<ProviderResponse> {
  const isFirstPage = context.position?.next == null;
  try {
    const response = await context.session.send(createRequest(vendor.declaration, list, context));
    if (response.status === NOT_MODIFIED || hasSucceeded(vendor, response)) return response;
    throw isFirstPage
      ? createFailure(vendor, response)
      : createPageFailure(vendor, response, list.behavior);
  } catch (error) {
    throw !isFirstPage && isLostScroll(list, error)
      ? new ProviderError('CURSOR_GONE', error.message, { cause: error })
      : error;
  }
}

/** True if the failed request may have moved the position that the vendor keeps. */
function isLostScroll({ paging }: BehavingList, error: unknown): error is ProviderError {
  return (
    paging.kind === 'cursor' &&
    paging.isScroll &&
    error instanceof ProviderError &&
    error.isOutcomeUnknown
  );
}

/** Returns the records of a page. Throws RETRYABLE if the response has no list, such as the error page of a proxy. */
export function readRows(
  response: ProviderResponse,
  { records: pointer, record }: ListDeclaration,
): Record<string, unknown>[] {
  const items =
    findValue(response.body, pointer) ?? (isEmptyList(response, pointer) ? [] : undefined);
  const rows = Array.isArray(items) ? items.map((item) => findValue(item, record)) : [items];
  if (rows.every(isObject) && Array.isArray(items)) return rows;
  throw new ProviderError('RETRYABLE', 'The response has no list of records', {
    status: response.status,
  });
}

/** Members of responses that report an error, although their status may be a success. */
const ERROR_MEMBERS = ['error', 'errors', 'message', 'error_description', 'fault'];

/** True if the response means an empty list: some vendors omit an empty list, or return 204 or 304 without a body. */
export function isEmptyList({ status, body }: ProviderResponse, pointer: string): boolean {
  const reportsError =
    isObject(body) && ERROR_MEMBERS.some((name) => collectMessages(body[name]).length > 0);
  return (
    (isObject(body) && pointer !== '' && !reportsError) ||
    ((status === NO_CONTENT || status === NOT_MODIFIED) && body === null)
  );
}
