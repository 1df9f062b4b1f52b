/**
 * Masks and encrypts the URL and headers of a destination, which may contain credentials of its receiver. The columns
 * `url` and `maskedHeaders` contain only masked values. The values themselves are encrypted in other columns.
 */
import type { RowKey } from '../database/statements/row-keys.ts';
import { MASK, type Vault } from '../kernel/secrets.ts';
import { listHeaderSecrets } from '../work/secret-mask.ts';

export type TargetHeaders = Record<string, string>;

export interface SealedTarget {
  url: string | null;
  urlSealed: string | null;
  maskedHeaders: unknown;
  headersSealed: string | null;
}

/** The columns that `openTarget` needs. Ordinary reads omit encrypted columns. */
export const SEALED_TARGET = {
  id: true,
  projectId: true,
  url: true,
  urlSealed: true,
  maskedHeaders: true,
  headersSealed: true,
} as const;

/** Masks every value of the query, because any of them may be a credential. */
export function maskUrl(url: string): string {
  const queryStart = url.indexOf('?');
  if (queryStart === -1) return url;
  const parts = url.slice(queryStart + 1).split('&');
  return `${url.slice(0, queryStart)}?${parts.map(maskPart).join('&')}`;
}

function maskPart(part: string): string {
  const valueStart = part.indexOf('=') + 1;
  return valueStart === part.length ? part : part.slice(0, valueStart) + MASK;
}

/** Lists the names of query parameters whose value is the mask. */
export function listMaskedParameters(url: string): string[] {
  const queryStart = url.indexOf('?');
  const parts = queryStart === -1 ? [] : url.slice(queryStart + 1).split('&');
  return parts.flatMap((part) => {
    const valueStart = part.indexOf('=') + 1;
    return part.slice(valueStart) === MASK ? [part.slice(0, Math.max(valueStart - 1, 0))] : [];
  });
}

export function maskHeaders(headers: unknown): TargetHeaders | null {
  const names = Object.keys((headers as TargetHeaders | null) ?? {});
  return headers == null ? null : Object.fromEntries(names.map((name) => [name, MASK]));
}

export function sealUrl(vault: Vault, owner: RowKey, url: string) {
  const maskedUrl = maskUrl(url);
  const urlSealed =
    maskedUrl === url ? null : vault.seal(url, toSealedLocation(owner, 'urlSealed'));
  return { url: maskedUrl, urlSealed };
}

export function sealHeaders(vault: Vault, owner: RowKey, headers: TargetHeaders | null) {
  const headersSealed =
    headers && vault.seal(JSON.stringify(headers), toSealedLocation(owner, 'headersSealed'));
  return { maskedHeaders: maskHeaders(headers), headersSealed };
}

/**
 * Returns the URL and headers with their values. A column that is not masked has no encrypted values, and is returned as
 * stored.
 */
export function openTarget<U extends string | null>(
  vault: Vault,
  row: RowKey & SealedTarget & { url: U },
): { url: U | string; headers: TargetHeaders | null } {
  return { url: openUrl(vault, row), headers: openHeaders(vault, row) };
}

function openUrl<U extends string | null>(
  vault: Vault,
  row: RowKey & SealedTarget & { url: U },
): U | string {
  const { url, urlSealed } = row;
  if (url === null || urlSealed === null || maskUrl(url) !== url) return url;
  const openedUrl = vault.open(urlSealed, toSealedLocation(row, 'urlSealed'));
  return maskUrl(openedUrl) === url ? openedUrl : url;
}

function openHeaders(vault: Vault, row: RowKey & SealedTarget): TargetHeaders | null {
  const headers = row.maskedHeaders as TargetHeaders | null;
  if (!headers || !row.headersSealed || !isMasked(headers)) return headers;
  return JSON.parse(
    vault.open(row.headersSealed, toSealedLocation(row, 'headersSealed')),
  ) as TargetHeaders;
}

/** Lists the values of a URL's query and of headers, and the tokens and passwords inside them. */
export function listTargetSecrets(url: string, headers: TargetHeaders | null): string[] {
  const queryStart = url.indexOf('?');
  const parts = queryStart === -1 ? [] : url.slice(queryStart + 1).split('&');
  // Without a name, the whole part is the value.
  const values = parts.map((part) => part.slice(part.indexOf('=') + 1));
  return [
    ...values,
    ...values.flatMap((value) => [...new URLSearchParams(`=${value}`).values()]),
    ...Object.values(headers ?? {}).flatMap(listHeaderSecrets),
  ];
}

/** Returns whether every value is the mask. */
function isMasked(headers: TargetHeaders): boolean {
  return Object.values(headers).every((value) => value === MASK);
}

function toSealedLocation({ id, projectId }: RowKey, column: 'urlSealed' | 'headersSealed') {
  return { table: 'Destination', column, row: id, projectId };
}
