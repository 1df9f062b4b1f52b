import type { RestRequest } from './endpoint.ts';

/** Bounds the header, because proxies refuse large ones. */
const WARNINGS_MAX = 20;

/**
 * Sends a `Warning` header (RFC 7234, code 299) for each member that was accepted and ignored. Logs those that only
 * REST accepts.
 */
export function sendWarnings(
  { call, url, setHeader, warnings: restWarnings }: RestRequest,
  domainWarnings: readonly string[],
): void {
  if (restWarnings.length > 0) {
    call.log.warn({ path: url.split('?')[0], warnings: restWarnings }, 'manifest.members_ignored');
  }
  const warnings = [...restWarnings, ...domainWarnings];
  if (warnings.length === 0) return;
  const headerTexts = warnings
    .slice(0, WARNINGS_MAX)
    .map((text) => `299 - ${quoteHeaderText(text)}`);
  const omittedCount = warnings.length - headerTexts.length;
  if (omittedCount > 0) headerTexts.push(`299 - "And ${omittedCount} more."`);
  setHeader('warning', headerTexts.join(', '));
}

/** Quotes a text for a header. Header values are ASCII, and names of fields may contain any characters. */
function quoteHeaderText(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}
