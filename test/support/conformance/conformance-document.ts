/**
 * Writes docs/conformance.md: every rule, the surfaces that tests check it over, and the rules that are not
 * implemented yet.
 */
import { listChecks, numberRules, type Rule, type Section } from './rule.ts';

export function formatPage(sections: readonly Section[]): string {
  const numbers = numberRules(sections);
  return [
    ...formatIntro(sections),
    ...sections.flatMap((section) => formatSection(section, numbers)),
    ...formatChoices(sections, numbers),
    '',
  ].join('\n');
}

function formatIntro(sections: readonly Section[]): string[] {
  const rules = sections.flatMap((section) => section.rules);
  const choices = sections.flatMap((section) => section.choices ?? []);
  const unimplemented = [...rules, ...choices].filter(({ notYet }) => notYet);
  return [
    '# Conformance with the reference API',
    '',
    "Every rule of [the reference API](glossary.md#the-reference-api), with the surfaces on which a test shows it. A test's",
    'title has the number of its rule: `npx vitest run test/conformance -t " 3\\.2 "` runs the tests of rule 3.2.',
    '`npx vitest run test/conformance -u` generates this page.',
    '',
    `The tests check ${rules.length} rules (${countChecks(rules)} tests) and ${choices.length} choices where`,
    `the reference API leaves a behavior open (${countChecks(choices)} tests). Not implemented yet: ${unimplemented.length}.`,
    '',
    ...(unimplemented.length > 0 ? ['| not implemented yet | why |', '| --- | --- |'] : []),
    ...unimplemented.map(
      ({ title, notYet }) => `| ${escapeCell(title)} | ${escapeCell(notYet as string)} |`,
    ),
    ...(unimplemented.length > 0 ? [''] : []),
  ];
}

const countChecks = (rules: readonly Rule[]) => rules.flatMap(listChecks).length;

function formatSection({ title, rules }: Section, numbers: Map<Rule, string>): string[] {
  if (rules.length === 0) return [];
  const rows = rules.map(
    (rule) => `| ${numbers.get(rule)} | ${escapeCell(rule.title)} | ${formatMarks(rule)} |`,
  );
  const head = ['| | rule | REST | GraphQL |', '| --- | --- | --- | --- |'];
  return [`## ${title}`, '', ...head, ...rows, ''];
}

function formatChoices(sections: readonly Section[], numbers: Map<Rule, string>): string[] {
  const choices = sections.flatMap((section) => section.choices ?? []);
  return [
    '## What the platform leaves open',
    '',
    '| | left open | at the gateway | REST | GraphQL |',
    '| --- | --- | --- | --- | --- |',
    ...choices.map((choice) => {
      const cells = [choice.open, choice.title].map(escapeCell).join(' | ');
      return `| ${numbers.get(choice)} | ${cells} | ${formatMarks(choice)} |`;
    }),
  ];
}

function formatMarks(rule: Rule): string {
  const checked = listChecks(rule).map(({ surface }) => surface);
  const mark = (surface: 'REST' | 'GraphQL') =>
    checked.includes(surface) ? (rule.notYet ? 'not yet' : 'yes') : '–';
  return `${mark('REST')} | ${mark('GraphQL')}`;
}

const escapeCell = (text: string) => text.replaceAll('|', '\\|');
