/** The rules of headers that a builder adds to every message of a destination. */
import { z } from 'zod';
import { CONNECTION_HEADERS } from '../../outbound/connection-headers.ts';

const HEADERS_MAX = 20;
const NAME_MAX = 128;
const VALUE_BYTES_MAX = 4096;

/** Those of one connection, of its framing, and of the sender. */
const RESERVED = new Set<string>([...CONNECTION_HEADERS, 'expect', 'host']);
const RESERVED_PREFIXES = ['content-', 'webhook-'];

/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** RFC 9110, 5.5: no line breaks, no other control characters. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** One pass over all of them, so that every offending header is named at once. */
export const targetHeaders = z
  .record(z.string(), z.unknown())
  .superRefine((headers, context) => {
    const entries = Object.entries(headers);
    if (entries.length > HEADERS_MAX) {
      context.addIssue({ code: 'custom', message: `must be at most ${HEADERS_MAX} headers.` });
      return;
    }
    const seen = new Set<string>();
    for (const [name, value] of entries) {
      const message = problemWithName(name, seen) ?? problemWithValue(value);
      if (message !== null) context.addIssue({ code: 'custom', path: [name], message });
      seen.add(name.toLowerCase());
    }
  })
  .pipe(z.record(z.string(), z.string()));

export function problemWithName(name: string, seen: ReadonlySet<string>): string | null {
  const lowercase = name.toLowerCase();
  if (name.length > NAME_MAX || !TOKEN.test(name)) {
    return `must have a name that is an HTTP token of at most ${NAME_MAX} characters.`;
  }
  if (RESERVED.has(lowercase) || RESERVED_PREFIXES.some((start) => lowercase.startsWith(start))) {
    return 'is a header that the sender sets itself.';
  }
  return seen.has(lowercase) ? 'is given twice: names are the same in any case.' : null;
}

export function problemWithValue(value: unknown): string | null {
  if (typeof value !== 'string') return 'must be a string.';
  if (!FIELD_VALUE.test(value)) {
    return 'must be Latin-1 text without line breaks or control characters.';
  }
  return Buffer.byteLength(value) > VALUE_BYTES_MAX
    ? `must be at most ${VALUE_BYTES_MAX} bytes.`
    : null;
}
