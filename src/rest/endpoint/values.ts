/**
 * Converts the values of a request into those that the domain's zod schemas accept: words into names, ISO texts into
 * times, texts of a query into numbers. The schema reports other values of a wrong form.
 */
import { z } from 'zod';
import { issueAt } from '../../domain/issues.ts';
import { timestamp } from '../../domain/timestamp.ts';
import { unwrapped } from '../../domain/unwrapped.ts';
import type { Issue } from '../../errors.ts';
import { wordOf } from './words.ts';

export interface Reading {
  /** Collects the issues, each with its path in the input. */
  issues: Issue[];
  /** True for the path, the query and headers, whose values are all text. */
  isText: boolean;
}

interface At {
  value: unknown;
  path: readonly PropertyKey[];
}

export function readValue(schema: z.ZodType, { value, path }: At, reading: Reading): unknown {
  if (value === undefined || value === null) return value;
  const { inner } = unwrapped(schema);
  if (inner instanceof z.ZodObject) return readMembers(inner, { value, path }, reading);
  if (inner instanceof z.ZodRecord) return readEntries(inner, { value, path }, reading);
  if (inner instanceof z.ZodArray) return readItems(inner, { value, path }, reading);
  if (inner instanceof z.ZodEnum) return readWord(inner, { value, path }, reading);
  if (inner instanceof z.ZodDate) return readTime({ value, path }, reading);
  return reading.isText ? readText(inner, value) : value;
}

function readMembers(schema: z.ZodObject, { value, path }: At, reading: Reading): unknown {
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  const given = value as Record<string, unknown>;
  // Otherwise a misspelled member would be ignored silently.
  const unknown = isLoose(schema)
    ? []
    : Object.keys(given).filter((name) => !(name in schema.shape));
  for (const name of unknown) {
    const issue = issueAt([...path, name], 'is not a field of this request.');
    reading.issues.push({ ...issue, kind: 'unknown-name' });
  }
  return Object.fromEntries(
    Object.entries<z.ZodType>(schema.shape).flatMap(([name, type]) => {
      const own = Object.hasOwn(given, name) ? given[name] : undefined;
      const read = readValue(type, { value: own, path: [...path, name] }, reading);
      return read === undefined ? [] : [[name, read]];
    }),
  );
}

function readEntries(schema: z.ZodRecord, { value, path }: At, reading: Reading): unknown {
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  const type = schema.valueType as z.ZodType;
  return Object.fromEntries(
    Object.entries(value as object).map(([name, entry]) => [
      name,
      readValue(type, { value: entry, path: [...path, name] }, reading),
    ]),
  );
}

function isLoose(schema: z.ZodObject): boolean {
  return schema.def.catchall instanceof z.ZodUnknown;
}

function readItems(schema: z.ZodArray, { value, path }: At, reading: Reading): unknown {
  const items = reading.isText && !Array.isArray(value) ? [value] : value;
  if (!Array.isArray(items)) return items;
  const element = schema.element as z.ZodType;
  return items.map((item, index) =>
    readValue(element, { value: item, path: [...path, index] }, reading),
  );
}

function readWord(schema: z.ZodEnum, { value, path }: At, { issues }: Reading): unknown {
  const { id } = schema.meta() ?? {};
  const names = schema.options as string[];
  const name = names.find((one) => wordOf(id, one) === value);
  if (name !== undefined) return name;
  const known = names.map((one) => wordOf(id, one)).join(', ');
  issues.push(issueAt(path, `must be one of ${known}.`, value));
  // The value may be the domain's name, which the schema would accept.
  return null;
}

function readTime({ value, path }: At, { issues }: Reading): unknown {
  const parsed = timestamp.safeParse(value);
  if (parsed.success) return parsed.data;
  issues.push(issueAt(path, 'must be a time like 2026-01-31T12:00:00Z.'));
  return value;
}

function readText(schema: z.ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodNumber && /^-?\d+(\.\d+)?$/.test(String(value))) return Number(value);
  if (schema instanceof z.ZodBoolean && value === 'true') return true;
  if (schema instanceof z.ZodBoolean && value === 'false') return false;
  return value;
}
