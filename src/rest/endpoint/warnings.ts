import type { RestRequest } from './endpoint.ts';

/** Bounds the header, because proxies refuse large ones. */
const SHOWN_MAX = 20;

/**
 * Sends a `Warning` header (RFC 7234, code 299) for each member that was accepted and ignored. Logs those that only
 * REST accepts.
 */
export function sendWarnings(
  { call, url, setHeader, warnings: earlier }: RestRequest,
  found: readonly string[],
): void {
  if (earlier.length > 0) {
    call.log.warn({ path: url.split('?')[0], warnings: earlier }, 'manifest.members_ignored');
  }
  const warnings = [...earlier, ...found];
  if (warnings.length === 0) return;
  const headerTexts = warnings.slice(0, SHOWN_MAX).map((text) => `299 - ${quote(text)}`);
  const omittedCount = warnings.length - headerTexts.length;
  if (omittedCount > 0) headerTexts.push(`299 - "And ${omittedCount} more."`);
  setHeader('warning', headerTexts.join(', '));
}

/** Quotes a text for a header. Header values are ASCII, and names of fields may contain any characters. */
function quote(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}
