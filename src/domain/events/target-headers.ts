/** Validates the headers that a builder adds to every message of a destination. */
import { z } from 'zod';
import {
  openTarget,
  type SealedTarget,
  type TargetHeaders,
} from '../../deliveries/target-secrets.ts';
import { type Issue, invalidInput } from '../../kernel/errors.ts';
import { MASK } from '../../kernel/secrets.ts';
import { member, nameInput, type Text, text } from '../../kernel/text.ts';
import { CONNECTION_HEADERS, FIELD_VALUE } from '../../outbound/exchange.ts';
import type { Call } from '../access/call.ts';
import { scopesMeet } from '../access/viewer/needs.ts';
import type { Viewer } from '../access/viewer/viewer.ts';
import { createInputIssue, createRuleIssue } from '../base/issues.ts';

export const HEADERS_MAX = 20;
const NAME_MAX = 128;
const VALUE_BYTES_MAX = 4096;

/** Headers that belong to one connection, frame the message, or are set by the gateway. */
const RESERVED_NAMES = new Set<string>([...CONNECTION_HEADERS, 'expect', 'host']);
const RESERVED_PREFIXES = ['content-', 'webhook-'];

/** A token of RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Checks all headers before it fails, so that the response names every invalid header. */
export const targetHeaders = z
  .record(z.string(), z.unknown())
  .superRefine((headers, context) => {
    const entries = Object.entries(headers);
    if (entries.length > HEADERS_MAX) {
      context.addIssue({ code: 'custom', message: `must have at most ${HEADERS_MAX} headers.` });
      return;
    }
    const names = new Set<string>();
    for (const [name, value] of entries) {
      const detail =
        findHeaderNameIssue(name, names) ?? findHeaderValueIssue(value) ?? findMaskIssue(value);
      if (detail !== null) context.addIssue({ code: 'custom', ...createRuleIssue([name], detail) });
      names.add(name.toLowerCase());
    }
  })
  .pipe(z.record(z.string(), z.string()));

/** Refuses masks, because a client that reads a destination and writes it back would overwrite the values with masks. */
function findMaskIssue(value: unknown): Text | null {
  if (value !== MASK) return null;
  const detail = text`is a mask and not a value. Send the value, or list the header in ${member('keepHeaders')} of an update.`;
  // The headers of a new destination have this problem too, and its input has no such member.
  return nameInput(detail, 'UpdateDestinationInput');
}

export function findHeaderNameIssue(
  name: string,
  earlierNames: ReadonlySet<string>,
): string | null {
  const lowerCaseName = name.toLowerCase();
  if (name.length > NAME_MAX || !TOKEN.test(name)) {
    return `must have a name that is an HTTP token of at most ${NAME_MAX} characters.`;
  }
  const hasReservedPrefix = RESERVED_PREFIXES.some((prefix) => lowerCaseName.startsWith(prefix));
  if (RESERVED_NAMES.has(lowerCaseName) || hasReservedPrefix)
    return 'is a header that the gateway sets.';
  return earlierNames.has(lowerCaseName)
    ? 'appears twice: header names are case-insensitive.'
    : null;
}

export function findHeaderValueIssue(value: unknown): string | null {
  if (typeof value !== 'string') return 'must be a string.';
  if (!FIELD_VALUE.test(value)) {
    return 'must be Latin-1 text without line breaks or control characters.';
  }
  return Buffer.byteLength(value) > VALUE_BYTES_MAX
    ? `must be at most ${VALUE_BYTES_MAX} bytes.`
    : null;
}

interface HeaderChange {
  url?: string | undefined;
  headers?: TargetHeaders | null | undefined;
  keepHeaders?: string[] | undefined;
}

/**
 * Merges the headers of an update with the stored headers that `keepHeaders` names. Undefined leaves the stored headers
 * unchanged, and null removes them. Throws BAD_USER_INPUT if a kept header does not exist or is also in `headers`, if
 * there are too many headers, or if the URL moves stored values to another origin and the caller may not read them.
 */
export function mergeKeptHeaders(
  { vault, viewer }: Pick<Call, 'vault' | 'viewer'>,
  destination: { id: string; projectId: string } & SealedTarget,
  change: HeaderChange,
): TargetHeaders | null | undefined {
  const { headers, keepHeaders } = change;
  const issues = canReadValues(viewer) ? [] : listMovedHeaderIssues(destination, change);
  if (keepHeaders === undefined) {
    if (issues.length > 0) throw invalidInput(issues);
    return headers;
  }
  const storedHeaders = indexByLowerCaseName(openTarget(vault, destination).headers ?? {});
  const newHeaders = indexByLowerCaseName(headers ?? {});
  const keptHeaders = new Map<string, [string, string]>();
  for (const [index, name] of keepHeaders.entries()) {
    const lowerCaseName = name.toLowerCase();
    const header = storedHeaders.get(lowerCaseName);
    const addIssue = (detail: Text) =>
      issues.push(createInputIssue(['keepHeaders', index], detail));
    if (!header) {
      addIssue('is not a header of the destination.');
    } else if (newHeaders.has(lowerCaseName)) {
      addIssue(text`is in ${member('headers')} too. Keep its value or replace it, not both.`);
    } else {
      keptHeaders.set(lowerCaseName, header);
    }
  }
  if (keptHeaders.size + newHeaders.size > HEADERS_MAX) {
    const detail = text`and ${member('headers')} may have at most ${HEADERS_MAX} headers together.`;
    issues.push(createInputIssue(['keepHeaders'], detail));
  }
  if (issues.length > 0) throw invalidInput(issues);
  return Object.fromEntries([...keptHeaders.values(), ...newHeaders.values()]);
}

function canReadValues(viewer: Viewer): boolean {
  return viewer.kind !== 'END_USER' && scopesMeet(viewer.scopes, 'credentials:read');
}

/**
 * Returns an issue if the update would send stored header values to another origin. A caller without the right to read
 * the values could otherwise have them sent to their own server.
 */
function listMovedHeaderIssues(
  destination: SealedTarget,
  { url, headers, keepHeaders }: HeaderChange,
): Issue[] {
  const keepsValues = keepHeaders === undefined ? headers === undefined : keepHeaders.length > 0;
  const isMoved =
    url !== undefined &&
    destination.url !== null &&
    parseOrigin(url) !== parseOrigin(destination.url);
  const hasHeaders = Object.keys(destination.maskedHeaders ?? {}).length > 0;
  if (!keepsValues || !isMoved || !hasHeaders) return [];
  const detail = text`points to another origin, ${parseOrigin(url)}. Send all header values again in ${member('headers')}, or null to remove them: stored values are only sent to the origin that they were entered for. A caller with the scope \`credentials:read\` may keep them.`;
  return [createInputIssue(['url'], detail)];
}

function parseOrigin(url: string): string {
  return new URL(url).origin;
}

function indexByLowerCaseName(headers: TargetHeaders): Map<string, [string, string]> {
  return new Map(Object.entries(headers).map((entry) => [entry[0].toLowerCase(), entry]));
}
