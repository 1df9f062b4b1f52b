/** Sends requests with the declared headers, and checks their responses. */
import type { ProviderRequest, ProviderResponse, ProviderSession } from '../contract.ts';
import { ProviderError } from '../provider-error.ts';
import { createFailure, hasSucceeded } from './failure.ts';
import { findValue, parseId } from './json.ts';
import { fillStrings } from './template.ts';
import type { Vendor } from './vendor.ts';

/** Sends the request. Throws ProviderError if the response is not a success. */
export async function sendRequest(
  vendor: Vendor,
  session: ProviderSession,
  request: Omit<ProviderRequest, 'headers'>,
): Promise<ProviderResponse> {
  const headers = fillStrings(vendor.declaration.headers, session);
  const response = await session.send({ ...request, headers });
  if (hasSucceeded(vendor, response)) return response;
  throw createFailure(vendor, response);
}

/** Awaits a response. Returns null if the vendor no longer has the resource. */
export async function ignoreMissing(
  pendingResponse: Promise<ProviderResponse>,
): Promise<ProviderResponse | null> {
  try {
    return await pendingResponse;
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'MISSING_OBJECT') return null;
    throw error;
  }
}

/** Returns the string at a pointer. Throws DISCONNECTED if the response lacks it. */
export function requireValueAt(
  { status, body }: ProviderResponse,
  pointer: string,
  missing: string,
): string {
  const value = parseId(findValue(body, pointer));
  if (value !== null) return value;
  throw new ProviderError('DISCONNECTED', `The response lacks ${missing}`, { status });
}
