/** docs/conformance.md: every rule, the surfaces that it is tested over, and what is not there yet. */
import { type Choice, checksOf, type Rule, type Section } from './rule.ts';

export function pageOf(sections: readonly Section[]): string {
  return [
    ...introOf(sections),
    ...sections.flatMap(rowsOfSection),
    ...rowsOfChoices(sections),
    '',
  ].join('\n');
}

function introOf(sections: readonly Section[]): string[] {
  const rules = sections.flatMap((section) => section.rules);
  const choices = sections.flatMap((section) => section.choices ?? []);
  const missing = [...rules, ...choices].filter(({ notYet }) => notYet);
  return [
    "# The platform's rules, one by one",
    '',
    "Every rule of the platform's API, and over which surfaces the tests in `test/conformance/` show that the gateway",
    'keeps it. Made by `npx vitest run test/conformance -u`.',
    '',
    `${rules.length} rules, shown by ${countOf(rules)} tests; ${choices.length} choices where the platform leaves`,
    `something open, shown by ${countOf(choices)} tests. Not there yet: ${missing.length}.`,
    '',
    ...(missing.length > 0 ? ['| not there yet | why |', '| --- | --- |'] : []),
    ...missing.map(({ says, notYet }) => `| ${cell(says)} | ${cell(notYet as string)} |`),
    ...(missing.length > 0 ? [''] : []),
  ];
}

const countOf = (rules: readonly Rule[]) => rules.flatMap(checksOf).length;

function rowsOfSection({ title, rules }: Section): string[] {
  if (rules.length === 0) return [];
  const rows = rules.map((rule) => `| ${cell(rule.says)} | ${marksOf(rule)} |`);
  return [`## ${title}`, '', '| rule | REST | GraphQL |', '| --- | --- | --- |', ...rows, ''];
}

function rowsOfChoices(sections: readonly Section[]): string[] {
  const choices = sections.flatMap((section): Choice[] => section.choices ?? []);
  if (choices.length === 0) return [];
  return [
    '## What the platform leaves open',
    '',
    '| left open | here | REST | GraphQL |',
    '| --- | --- | --- | --- |',
    ...choices.map(
      (choice) => `| ${cell(choice.open)} | ${cell(choice.says)} | ${marksOf(choice)} |`,
    ),
  ];
}

function marksOf(rule: Rule): string {
  const checked = checksOf(rule).map(({ surface }) => surface);
  const mark = (surface: 'REST' | 'GraphQL') =>
    checked.includes(surface) ? (rule.notYet ? 'not yet' : 'yes') : '–';
  return `${mark('REST')} | ${mark('GraphQL')}`;
}

const cell = (text: string) => text.replaceAll('|', '\\|');
