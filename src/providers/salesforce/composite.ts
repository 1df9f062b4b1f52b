/** Sends a request inside a Composite request, whose body has room for a URL of any length. */
import type { ProviderResponse, ProviderSession } from '../contract.ts';
import { parseResponse } from '../read-responses.ts';
import { requireSuccess } from './failure.ts';
import { paths } from './paths.ts';
import { compositeResult } from './wire.ts';

/**
 * Returns the response to a GET request. A Composite request succeeds even if the request inside it fails. Throws if the
 * Composite request itself fails.
 */
export async function getInComposite(
  session: ProviderSession,
  url: string,
  headers: Record<string, string> = {},
): Promise<ProviderResponse> {
  const response = await session.send({
    method: 'POST',
    path: paths.composite,
    body: {
      allOrNone: false,
      compositeRequest: [{ method: 'GET', url, referenceId: 'request', httpHeaders: headers }],
    },
  });
  const [part] = parseResponse(compositeResult, requireSuccess(response), 'READ').compositeResponse;
  return { ...response, status: part.httpStatusCode, body: part.body };
}
