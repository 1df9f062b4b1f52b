import type { OutboundAnswer } from '../../../outbound/client.ts';
import type { ProviderAnswer } from '../../../providers/contract.ts';

/** The body parsed as JSON; the text itself where it is none, and null where it is empty. */
export function providerAnswer({ status, headers, body }: OutboundAnswer): ProviderAnswer {
  return { status, headers, body: parsed(body.toString('utf8')) };
}

function parsed(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
