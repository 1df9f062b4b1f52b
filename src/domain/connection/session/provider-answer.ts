import type { OutboundAnswer } from '../../../outbound/client.ts';
import type { ProviderAnswer } from '../../../providers/contract.ts';
import { parseExactly } from '../../../providers/exact-json.ts';

/** The body parsed as JSON; the text itself if it is none, and null if it is empty. */
export function providerAnswer({ status, headers, body }: OutboundAnswer): ProviderAnswer {
  return { status, headers, body: parseExactly(body.toString('utf8')) };
}
