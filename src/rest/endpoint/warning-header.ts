/** Formats the `Warning` header of responses. */
import type { RestRequest } from './endpoint.ts';

/** Bounds the header, because proxies refuse large headers. */
const WARNINGS_MAX = 20;

/** Sets the `Warning` header (RFC 7234, code 299) to the warnings. Sets no header if there are none. */
export function setWarnings(
  { setHeader }: Pick<RestRequest, 'setHeader'>,
  warnings: readonly string[],
): void {
  if (warnings.length === 0) return;
  const headerTexts = warnings
    .slice(0, WARNINGS_MAX)
    .map((text) => `299 - ${quoteHeaderText(text)}`);
  const omittedCount = warnings.length - headerTexts.length;
  if (omittedCount > 0) headerTexts.push(`299 - "And ${omittedCount} more."`);
  setHeader('warning', headerTexts.join(', '));
}

/** Quotes a text for a header, whose value must be ASCII. Names of fields may contain any characters. */
function quoteHeaderText(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}
