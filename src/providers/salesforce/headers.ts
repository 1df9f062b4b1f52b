/** The headers that a caller may add to a write: Salesforce's own, such as Sforce-Duplicate-Rule-Header. */
import { ProviderError } from '../provider-error.ts';

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
/** Printable ASCII: nothing that could end the header. */
const HEADER_VALUE = /^[\t\x20-\x7e]{0,1000}$/;
/** What the session and HTTP itself decide: who asks, whom, in what form, over which connection. */
const RESERVED =
  /^(?:authorization|cookie|host|accept|accept-.*|content-.*|connection|expect|forwarded|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|via|x-forwarded-.*)$/i;

/** Refuses the whole write when a header cannot be sent, rather than to write without it. */
export function forwardedHeaders(
  headers: { key: string; value: string }[] = [],
): Record<string, string> {
  const refused = headers.find(
    ({ key, value }) => !HEADER_NAME.test(key) || RESERVED.test(key) || !HEADER_VALUE.test(value),
  );
  if (refused) {
    const name = JSON.stringify(refused.key.slice(0, 100));
    throw new ProviderError('BAD_REQUEST', `The header ${name} cannot be sent to Salesforce`);
  }
  return Object.fromEntries(headers.map(({ key, value }) => [key.toLowerCase(), value]));
}
