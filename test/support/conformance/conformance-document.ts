/**
 * Writes docs/conformance.md: every rule, the surfaces that tests check it over, and the rules that are not
 * implemented yet.
 */
import { type Choice, listChecks, type Rule, type Section } from './rule.ts';

export function formatPage(sections: readonly Section[]): string {
  return [
    ...formatIntro(sections),
    ...sections.flatMap(formatSection),
    ...formatChoices(sections),
    '',
  ].join('\n');
}

function formatIntro(sections: readonly Section[]): string[] {
  const rules = sections.flatMap((section) => section.rules);
  const choices = sections.flatMap((section) => section.choices ?? []);
  const missing = [...rules, ...choices].filter(({ notYet }) => notYet);
  return [
    "# The platform's rules, one by one",
    '',
    "Every rule of the platform's API, and over which surfaces the tests in `test/conformance/` show that the gateway",
    'keeps it. Made by `npx vitest run test/conformance -u`.',
    '',
    `${rules.length} rules, shown by ${countChecks(rules)} tests; ${choices.length} choices where the platform leaves`,
    `something open, shown by ${countChecks(choices)} tests. Not there yet: ${missing.length}.`,
    '',
    ...(missing.length > 0 ? ['| not there yet | why |', '| --- | --- |'] : []),
    ...missing.map(
      ({ says, notYet }) => `| ${escapeCell(says)} | ${escapeCell(notYet as string)} |`,
    ),
    ...(missing.length > 0 ? [''] : []),
  ];
}

const countChecks = (rules: readonly Rule[]) => rules.flatMap(listChecks).length;

function formatSection({ title, rules }: Section): string[] {
  if (rules.length === 0) return [];
  const rows = rules.map((rule) => `| ${escapeCell(rule.says)} | ${formatMarks(rule)} |`);
  return [`## ${title}`, '', '| rule | REST | GraphQL |', '| --- | --- | --- |', ...rows, ''];
}

function formatChoices(sections: readonly Section[]): string[] {
  const choices = sections.flatMap((section): Choice[] => section.choices ?? []);
  if (choices.length === 0) return [];
  return [
    '## What the platform leaves open',
    '',
    '| left open | here | REST | GraphQL |',
    '| --- | --- | --- | --- |',
    ...choices.map(
      (choice) =>
        `| ${escapeCell(choice.open)} | ${escapeCell(choice.says)} | ${formatMarks(choice)} |`,
    ),
  ];
}

function formatMarks(rule: Rule): string {
  const checked = listChecks(rule).map(({ surface }) => surface);
  const mark = (surface: 'REST' | 'GraphQL') =>
    checked.includes(surface) ? (rule.notYet ? 'not yet' : 'yes') : '–';
  return `${mark('REST')} | ${mark('GraphQL')}`;
}

const escapeCell = (text: string) => text.replaceAll('|', '\\|');
