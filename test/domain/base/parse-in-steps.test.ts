/** Tests that long values are parsed with the same results as short ones, a few items in each step. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseInSteps } from '../../../src/domain/base/parse-in-steps.ts';
import { parseBounded } from '../../../src/work/bounded-parse.ts';
import { isLongValue, runSteps } from '../../../src/work/steps.ts';

let checkedItems = 0;
const item = z
  .object({
    id: z.string().refine(() => {
      checkedItems += 1;
      return true;
    }),
    note: z
      .string()
      .nullish()
      .transform((text) => text ?? null),
  })
  .transform(({ id, note }) => ({ id: id.toUpperCase(), note }));
const group = z.object({
  name: z.string(),
  items: z.array(item).max(2_000).nullable().default([]),
});
const schema = z
  .object({
    groups: z.array(group).min(1),
    groupsByName: z.record(z.string().max(10), group).optional(),
    title: z.string().default('none'),
  })
  .superRefine(({ groups }, context) => {
    const names = groups.map(({ name }) => name);
    if (new Set(names).size < names.length)
      context.addIssue({ code: 'custom', path: ['groups'], message: 'repeats.' });
  });

const createItems = (count: number, last: object = {}) =>
  Array.from({ length: count }, (_, index) => ({
    id: `item${index}`,
    ...(index === count - 1 && last),
  }));
const createGroups = (...lists: object[][]) =>
  lists.map((items, index) => ({ name: `group${index}`, items }));

const VALUES: Record<string, unknown> = {
  'many items in each list': { groups: createGroups(createItems(1_500), createItems(1_500)) },
  'many lists': { groups: createGroups(...Array.from({ length: 500 }, () => createItems(5))) },
  'many entries': { groups: [], groupsByName: { a: { name: 'a', items: createItems(1_500) } } },
  'an absent and a null list': {
    groups: [...createGroups(createItems(1_500)), { name: 'a' }, { name: 'b', items: null }],
  },
  'a wrong last item': { groups: createGroups(createItems(1_500), createItems(1_500, { id: 1 })) },
  'a wrong item and a wrong member': {
    groups: createGroups(createItems(1_500, { id: 1 })),
    title: 1,
  },
  'a list that is too long': { groups: createGroups(createItems(2_001)) },
  'a list that is too long, of wrong items': {
    groups: createGroups(Array.from({ length: 9_000 }, () => [])),
  },
  'a name that is too long': {
    groups: createGroups([]),
    groupsByName: { 'a long name': { name: 'a', items: createItems(1_500) } },
  },
  'a repeated name': {
    groups: [...createGroups(createItems(1_500)), ...createGroups(createItems(1_500))],
  },
  'no lists': { groups: Object.fromEntries(createItems(1_500).map((value) => [value.id, value])) },
};

test.each(Object.entries(VALUES))('returns what `parseBounded` returns: %s', (_, value) => {
  expect(isLongValue(value)).toBe(true);
  const { data, error } = runSteps(parseInSteps(schema, value));
  const expected = parseBounded(schema, value);
  expect(data).toEqual(expected.data);
  expect(error?.issues).toEqual(expected.error?.issues);
});

test('parses each item once, and in a step at most one item of a list', () => {
  checkedItems = 0;
  const steps = parseInSteps(schema, VALUES['many items in each list']);
  let itemsOfStepMax = 0;
  for (let isDone: boolean | undefined = false; !isDone; ) {
    const itemsBefore = checkedItems;
    isDone = steps.next().done;
    itemsOfStepMax = Math.max(itemsOfStepMax, checkedItems - itemsBefore);
  }
  expect(checkedItems).toBe(3_000);
  expect(itemsOfStepMax).toBe(1);
});

test('parses a short value in one step', () => {
  const steps = parseInSteps(schema, { groups: createGroups(createItems(10)) });
  steps.next();
  expect(steps.next().done).toBe(true);
});
