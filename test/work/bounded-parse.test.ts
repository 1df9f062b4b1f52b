/** Tests that valid values are parsed, and that the work to explain invalid ones does not grow with them. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { LEVELS_MAX, parseBounded, requireParsed } from '../../src/work/bounded-parse.ts';

const page = z.object({
  results: z.array(z.object({ id: z.string() })),
  next: z.string().nullish(),
});
const listPaths = (schema: z.ZodType, value: unknown) =>
  parseBounded(schema, value).error?.issues.map(({ path }) => path.join('.'));

test('returns the parsed value', () => {
  const schema = page.transform(({ results }) => results.map(({ id }) => Number(id)));
  expect(parseBounded(schema, { results: [{ id: '7', name: 'x' }] }).data).toEqual([7]);
  expect(requireParsed(schema, { results: [] })).toEqual([]);
  expect(() => requireParsed(schema, {})).toThrow(z.ZodError);
});

test('lists every problem of a small value', () => {
  const results = [{ id: 1 }, { id: '2' }, {}];
  expect(listPaths(page, { results, next: 4 })).toEqual(['results.0.id', 'results.2.id', 'next']);
});

test('explains the first 100 items of a long list', () => {
  const results = Array.from({ length: 1_000_000 }, () => []);
  const paths = listPaths(page, { results });
  expect(paths).toHaveLength(100);
  expect(paths?.at(-1)).toBe('results.99');
});

test('names the first problem beyond the first items', () => {
  const results = Array.from({ length: 500 }, (_, index) => ({ id: index < 300 ? 'x' : index }));
  expect(listPaths(page, { results })).toEqual(['results.300.id']);
});

test('keeps required members that follow many others', () => {
  const members = Array.from({ length: 900 }, (_, index) => [`field${index}`, index]);
  const value = { ...Object.fromEntries(members), id: 'x', name: 1 };
  expect(listPaths(z.looseObject({ id: z.string(), name: z.string() }), value)).toEqual(['name']);
});

test('explains nested lists up to a number of values', () => {
  const lists = z.array(z.array(z.array(z.array(z.string()))));
  const fill = (item: unknown) => Array.from({ length: 100 }, () => item);
  expect(listPaths(lists, fill(fill(fill(fill(1)))))?.length).toBeLessThan(20_000);
});

test('names the only problem of a long value, and not members that its copy lacks', () => {
  const fields = { text: z.string().optional(), number: z.number().optional() };
  const field = z.object(fields).refine(({ text, number }) => text ?? number, 'must have a member');
  const lists = z.array(z.array(z.object({ id: z.string(), fields: z.array(field) })));
  const create = () => ({ id: 'x', fields: Array.from({ length: 90 }, () => ({ text: 'x' })) });
  const value = Array.from({ length: 50 }, () => Array.from({ length: 90 }, create));
  expect(parseBounded(lists, value).success).toBe(true);
  const last = value.at(-1)?.at(-1) as { id: unknown };
  last.id = 1;
  expect(listPaths(lists, value)).toEqual(['49.89.id']);
});

test('explains a value of any depth', () => {
  type Tree = { items?: Tree[] | undefined };
  const tree: z.ZodType<Tree> = z.lazy(() => z.strictObject({ items: z.array(tree).optional() }));
  let value: unknown = { name: 'x' };
  for (let level = 0; level < 40; level += 1) value = { items: [value] };
  expect(parseBounded(tree, value).error?.issues[0]?.code).toBe('unrecognized_keys');
  const levels = LEVELS_MAX * 100;
  const text = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  expect(listPaths(page, { results: [JSON.parse(text)] })).toEqual(['results.0.id']);
});

test('keeps times and other instances', () => {
  const schema = z.object({ time: z.date(), id: z.string() });
  expect(listPaths(schema, { time: new Date(), id: 1 })).toEqual(['id']);
});
