import type { OutboundResponse } from '../../../outbound/client.ts';
import type { ProviderResponse } from '../../../providers/contract.ts';
import { parseExactJson } from '../../../providers/exact-json.ts';

/** Parses the body as JSON. A body that is not JSON stays a string, and an empty body becomes null. */
export function toProviderResponse({ status, headers, body }: OutboundResponse): ProviderResponse {
  return { status, headers, body: parseExactJson(body.toString('utf8')) };
}
