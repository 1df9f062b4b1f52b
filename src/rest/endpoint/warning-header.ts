/** Formats the `Warning` header of responses. */
import type { RestRequest } from './endpoint.ts';

/** The maximum length of the header in bytes, because proxies refuse large headers. */
const HEADER_LENGTH_MAX = 2_000;
/** The length of the last warning, which counts the omitted ones. */
const COUNT_LENGTH_MAX = 40;

/**
 * Sets the `Warning` header (RFC 7234, code 299) to the first warnings that fit into it, and the number of the others. Sets
 * no header if there are no warnings.
 */
export function setWarnings(
  { setHeader }: Pick<RestRequest, 'setHeader'>,
  warnings: readonly string[],
): void {
  if (warnings.length === 0) return;
  let header = '';
  for (const [index, text] of warnings.entries()) {
    const separator = index === 0 ? '' : ', ';
    const headerWithText = `${header}${separator}299 - ${quoteHeaderText(text)}`;
    if (headerWithText.length > HEADER_LENGTH_MAX - COUNT_LENGTH_MAX) {
      header += `${separator}299 - "And ${warnings.length - index} more."`;
      break;
    }
    header = headerWithText;
  }
  setHeader('warning', header);
}

/** Quotes a text for a header, whose value must be ASCII. Names of fields may contain any characters. */
function quoteHeaderText(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}
