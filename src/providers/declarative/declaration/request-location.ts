/** Schemas that several parts of a declaration use: locations in JSON and in requests, paths, and time formats. */
import { z } from 'zod';

export const pointer = z
  .string()
  .max(500)
  .regex(/^(\/([^/~]|~[01])*)*$/, 'must be a JSON Pointer like /data/id')
  .describe("A JSON Pointer (RFC 6901): '' is the whole document, `/data/id` a nested member.");

export const pathTemplate = z
  .string()
  .max(2_000)
  .regex(/^(\/\S*)?$/, 'must be empty or start with a slash, without spaces')
  .refine(
    hasBoundedVariables,
    'must have at most one variable in a segment, and at most one `{+name}`',
  )
  .describe(
    "A path below the base URL. `{name}` is replaced by one segment: the record's `id` or a part of it, the `object`, the parent, or a member of a created record. `{+name}` may contain slashes. `{{name}}` is a member of the connection's metadata.",
  );

/** Matching a path takes time that grows with each variable of a segment, so a path has one at most. */
function hasBoundedVariables(path: string): boolean {
  const segments = path.replaceAll('{{', '{').split('/');
  return (
    segments.every((segment) => segment.split('{').length <= 2) && path.split('{+').length <= 2
  );
}

/** Headers that frame a request or select its server. A declaration can't set them. */
const RESERVED_HEADERS =
  /^(host|connection|content-length|cookie|expect|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*)$/i;
export const headerName = z
  .string()
  .max(200)
  .regex(/^[!#$%&'*+.^_`|~\w-]+$/, 'must be the name of a header')
  .refine((name) => !RESERVED_HEADERS.test(name), 'is a header that only the gateway sets')
  .describe('The name of a header (RFC 9110).');
const headerValue = z
  .string()
  .max(2_000)
  .regex(/^[\x20-\x7e]*$/, 'must be one line of printable ASCII characters');
const LOCATION_NAMES = { query: z.string(), header: headerName, body: pointer.min(1) };

/** Checks the name of a location: in a body it is a JSON Pointer, and in a header the name of one. */
export function checkName(
  { in: part, name }: { in: 'query' | 'header' | 'body'; name: string },
  context: z.core.$RefinementCtx,
): void {
  for (const { message } of LOCATION_NAMES[part].safeParse(name).error?.issues ?? []) {
    context.addIssue({ code: 'custom', path: ['name'], message });
  }
}

export const headerTemplates = z
  .record(headerName, headerValue)
  .describe("Headers by name. `{{name}}` in a value is a member of the connection's metadata.");
export const headerMap = headerTemplates.default({});

export const requestLocation = z
  .strictObject({
    in: z.enum(['query', 'header', 'body']),
    name: z.string().min(1).max(500),
  })
  .superRefine(checkName)
  .describe(
    'The location of a value in a request. In a body the name is a JSON Pointer, and `/-` appends to a list.',
  );
export type RequestLocation = z.infer<typeof requestLocation>;

export const stringMap = z.record(z.string().max(500), z.string().max(10_000)).default({});
export const jsonObject = z.record(z.string(), z.unknown());

const TIME_FORMATS = [
  /** 2026-01-02T03:04:05.678Z */
  'iso',
  /** 2026-01-02T03:04:05Z */
  'isoSeconds',
  /** 2026-01-02T03:04:05+00:00 */
  'isoOffset',
  /** 2026-01-02 03:04:05, in UTC */
  'spaced',
  /** 2026-01-02 03:04 */
  'minutes',
  'unixSeconds',
  'unixMilliseconds',
  /** Fri, 02 Jan 2026 03:04:05 GMT */
  'httpDate',
  /** /Date(1767323045678+0000)/ */
  'dotNet',
] as const;
export const timeFormat = z.enum(TIME_FORMATS);
export type TimeFormat = z.infer<typeof timeFormat>;
