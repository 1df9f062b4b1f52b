/**
 * The URL and headers of a destination, which may hold credentials of its receiver. The columns `url` and
 * `maskedHeaders` hold what any reader may see; the values are sealed.
 */
import type { Vault } from '../secrets.ts';

/** Stands for a value that is not shown. Inputs that contain it are refused, so that it never replaces the value. */
export const MASK = '***';

export type TargetHeaders = Record<string, string>;

interface Owner {
  id: string;
  projectId: string;
}

export interface SealedTarget {
  url: string | null;
  urlSealed: string | null;
  maskedHeaders: unknown;
  headersSealed: string | null;
}

/** The columns that `openTarget` needs. Ordinary reads leave sealed columns out. */
export const SEALED_TARGET = {
  id: true,
  projectId: true,
  url: true,
  urlSealed: true,
  maskedHeaders: true,
  headersSealed: true,
} as const;

/** Replaces every value of the query: any of them may be a credential. */
export function maskUrl(url: string): string {
  const at = url.indexOf('?');
  if (at === -1) return url;
  const parts = url.slice(at + 1).split('&');
  return `${url.slice(0, at)}?${parts.map(maskPart).join('&')}`;
}

function maskPart(part: string): string {
  const valueAt = part.indexOf('=') + 1;
  return valueAt === part.length ? part : part.slice(0, valueAt) + MASK;
}

/** The parameters of a query whose value is a mask. */
export function maskedParameters(url: string): string[] {
  const at = url.indexOf('?');
  const parts = at === -1 ? [] : url.slice(at + 1).split('&');
  return parts.flatMap((part) => {
    const valueAt = part.indexOf('=') + 1;
    return part.slice(valueAt) === MASK ? [part.slice(0, Math.max(valueAt - 1, 0))] : [];
  });
}

export function maskHeaders(headers: unknown): TargetHeaders | null {
  const names = Object.keys((headers as TargetHeaders | null) ?? {});
  return headers == null ? null : Object.fromEntries(names.map((name) => [name, MASK]));
}

export function sealUrl(vault: Vault, owner: Owner, url: string) {
  const masked = maskUrl(url);
  const urlSealed = masked === url ? null : vault.seal(url, place(owner, 'urlSealed'));
  return { url: masked, urlSealed };
}

export function sealHeaders(vault: Vault, owner: Owner, headers: TargetHeaders | null) {
  const headersSealed =
    headers && vault.seal(JSON.stringify(headers), place(owner, 'headersSealed'));
  return { maskedHeaders: maskHeaders(headers), headersSealed };
}

/**
 * The URL and headers with their values. Columns without masks hold the values themselves: an earlier version wrote
 * them, and they are not sealed yet.
 */
export function openTarget(
  vault: Vault,
  row: Owner & SealedTarget,
): { url: string | null; headers: TargetHeaders | null } {
  return { url: openUrl(vault, row), headers: openHeaders(vault, row) };
}

function openUrl(vault: Vault, row: Owner & SealedTarget): string | null {
  const { url, urlSealed } = row;
  if (url === null || urlSealed === null || maskUrl(url) !== url) return url;
  const opened = vault.open(urlSealed, place(row, 'urlSealed'));
  return maskUrl(opened) === url ? opened : url;
}

function openHeaders(vault: Vault, row: Owner & SealedTarget): TargetHeaders | null {
  const headers = row.maskedHeaders as TargetHeaders | null;
  if (!headers || !row.headersSealed || !isMasked(headers)) return headers;
  return JSON.parse(vault.open(row.headersSealed, place(row, 'headersSealed'))) as TargetHeaders;
}

/** Whether nothing is left to seal. */
export function isMasked(headers: TargetHeaders): boolean {
  return Object.values(headers).every((value) => value === MASK);
}

function place({ id, projectId }: Owner, column: 'urlSealed' | 'headersSealed') {
  return { table: 'Destination', column, row: id, projectId };
}
