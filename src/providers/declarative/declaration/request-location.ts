/** Schemas that several parts of a declaration use: locations in JSON and in requests, paths, and time formats. */
import { z } from 'zod';

/** A JSON Pointer (RFC 6901): '' is the whole document, `/data/id` a nested member. */
export const pointer = z.string().regex(/^(\/[^/]*)*$/, 'must be a JSON Pointer like /data/id');

/**
 * A path below the base URL. `{name}` is replaced by one segment: the record's `id` or a part of it, the `object`, the
 * parent, or a member of a created record. `{+name}` may contain slashes. `{{name}}` is a member of the connection's
 * metadata.
 */
export const pathTemplate = z.string().regex(/^(\/.*)?$/, 'must be empty or start with a slash');

/** The location of a value in a request. In a body the name is a JSON Pointer, and `/-` appends to a list. */
export const requestLocation = z.strictObject({
  in: z.enum(['query', 'header', 'body']),
  name: z.string().min(1),
});
export type RequestLocation = z.infer<typeof requestLocation>;

export const stringMap = z.record(z.string(), z.string()).default({});
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
