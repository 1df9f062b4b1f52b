/**
 * Checks each rule of the reference API over each surface that has it, and generates docs/conformance.md from
 * the rules.
 *
 * @module-tag all/walk
 */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatPage } from '../support/conformance/conformance-document.ts';
import { createConformanceFixture } from '../support/conformance/fixture.ts';
import { listChecks, numberRules, type Rule } from '../support/conformance/rule.ts';
import { SECTIONS } from './sections.ts';

const fixture = await createConformanceFixture();

const numbers = numberRules(SECTIONS);

for (const { title, rules, choices = [] } of SECTIONS) {
  describe(title, () => {
    for (const rule of [...rules, ...choices]) testRule(rule);
  });
}

function testRule(rule: Rule) {
  for (const { surface, check } of listChecks(rule)) {
    test(`${numbers.get(rule)} ${rule.title} (${surface})`, async () => {
      if (!rule.notYet) return check(fixture);
      const holds = await Promise.resolve(check(fixture)).then(
        () => true,
        () => false,
      );
      expect(holds, 'The rule holds. Remove its notYet.').toBe(false);
    });
  }
}

test('contains each rule once, and checks it over a surface', () => {
  const allRules = SECTIONS.flatMap(({ rules, choices = [] }) => [...rules, ...choices]);
  const titles = allRules.map(({ title }) => title);
  expect(titles.filter((title, index) => titles.indexOf(title) < index)).toEqual([]);
  expect(allRules.filter((rule) => listChecks(rule).length === 0)).toEqual([]);
});

test('lists every rule in docs/conformance.md', async () => {
  const file = join(import.meta.dirname, '../../docs/conformance.md');
  await expect(
    formatPage(SECTIONS),
    'Run `npx vitest run test/conformance -u` to update it.',
  ).toMatchFileSnapshot(file);
});
