/** Sends SOQL queries. */
import type { ProviderResponse, ProviderSession } from '../contract.ts';
import { getInComposite } from './composite.ts';
import { paths } from './paths.ts';

/** The maximum length of the URI and the headers together. */
export const URL_BYTES_MAX = 16_384;
/** Salesforce advises to expect about 8,000 bytes of headers. */
const HEADER_BYTES = 8_192;
const URI_TOO_LONG = 414;
const HEADERS_TOO_LONG = 431;

/** Returns the response to a query. Sends a query that is too long for a URL in the body of a Composite request. */
export async function sendQuery(
  session: ProviderSession,
  soql: string,
  headers: Record<string, string> = {},
): Promise<ProviderResponse> {
  const url = `${paths.query}?${new URLSearchParams({ q: soql })}`;
  if (url.length > URL_BYTES_MAX - HEADER_BYTES) return getInComposite(session, url, headers);
  const response = await session.send({
    method: 'GET',
    path: paths.query,
    query: { q: soql },
    headers,
  });
  // The headers may be longer than expected.
  const isTooLong = response.status === URI_TOO_LONG || response.status === HEADERS_TOO_LONG;
  return isTooLong ? getInComposite(session, url, headers) : response;
}
