import type { OutboundResponse } from '../../../outbound/client.ts';
import type { ProviderResponse } from '../../../providers/contract.ts';
import { parseExactly } from '../../../providers/exact-json.ts';

/** The body parsed as JSON; the text itself if it is none, and null if it is empty. */
export function providerResponse({ status, headers, body }: OutboundResponse): ProviderResponse {
  return { status, headers, body: parseExactly(body.toString('utf8')) };
}
