import { expect, test } from 'vitest';
import { z } from 'zod';
import { createMemberSuggester } from '../../src/kernel/member-names.ts';

const schema = z.strictObject({
  title: z.string(),
  items: z.array(z.strictObject({ quantity: z.int() }).nullish()).optional(),
  entries: z.record(z.string(), z.strictObject({ schedule: z.string() })),
  form: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('page'), firstPage: z.int() }),
    z.strictObject({ kind: z.literal('offset'), firstItem: z.int() }),
  ]),
  value: z.union([z.string(), z.strictObject({ pointer: z.string() })]),
});

test.each([
  [['titel'], ' Did you mean title?'],
  [['items', 0, 'quantiy'], ' Did you mean quantity?'],
  [['entries', 'a', 'schedul'], ' Did you mean schedule?'],
  [['form', 'firstPgae'], ' Did you mean firstPage?'],
  [['form', 'firstItm'], ''],
  [['value', 'ponter'], ' Did you mean pointer?'],
  [['constructor', 'titel'], ''],
  [['color'], ''],
])('suggests for %j: "%s"', (path, suggestion) => {
  const suggest = createMemberSuggester(schema, { form: { kind: 'page' } });
  expect(suggest(path)).toBe(suggestion);
});
