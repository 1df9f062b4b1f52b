/** Sends a request with the declared headers. */
import type { ProviderRequest, ProviderResponse, ProviderSession } from '../contract.ts';
import type { RequestPurpose } from '../read-responses.ts';
import { createFailure, hasSucceeded, type Vendor } from './failure.ts';
import { fillStrings } from './template.ts';

/** Throws ProviderError if the response is not a success. */
export async function sendRequest(
  vendor: Vendor,
  session: ProviderSession,
  request: Omit<ProviderRequest, 'headers'>,
  purpose: RequestPurpose = 'READ',
): Promise<ProviderResponse> {
  const headers = fillStrings(vendor.declaration.headers, session);
  const response = await session.send({ ...request, headers });
  if (hasSucceeded(vendor, response)) return response;
  throw createFailure(vendor, response, purpose);
}
