/**
 * The walk runs every example of the documentation, or not-run.ts has a reason. Every named script and test
 * exists.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  DOCUMENTS,
  listCommands,
  listNpmScripts,
  listTestFiles,
  ROOT,
} from '../support/documents.ts';
import {
  ASIDE,
  BLOCKS_NOT_RUN,
  blocks,
  COMMANDS_NOT_RUN,
  inLanguage,
  isRun,
  readName,
} from './not-run.ts';

test('every block runs, or has a reason why not', () => {
  const fences = DOCUMENTS.map((name) =>
    readFileSync(join(ROOT, name), 'utf8').match(/^\s*(```|~~~)/gm),
  );
  expect(blocks).toHaveLength(fences.flatMap((matches) => matches ?? []).length / 2);
  const languages = new Set(blocks.filter(isRun).map(({ language }) => language));
  expect([...languages].sort()).toEqual(['graphql', 'html', 'js', 'json', 'sh', 'yaml']);
  const stale = BLOCKS_NOT_RUN.filter(
    ({ start }) => !blocks.some(({ text }) => text.startsWith(start)),
  );
  expect(stale).toEqual([]);
  for (const { text, document } of inLanguage('js')) {
    const name = readName(text);
    expect(
      inLanguage('sh', document).filter((block) => block.text.includes(`node ${name} `)),
    ).not.toEqual([]);
  }
});

test('every command in a sentence runs, or has a reason why not', () => {
  const run = [...inLanguage('sh'), ...ASIDE.map((text) => ({ text }))]
    .map(({ text }) => text.replaceAll('npm run -s', 'npm run'))
    .join('\n');
  const commands = DOCUMENTS.flatMap(listCommands);
  const reasons = new Set(COMMANDS_NOT_RUN.map(({ command }) => command));
  expect(commands.filter((command) => !run.includes(command) && !reasons.has(command))).toEqual([]);
  expect([...reasons].filter((command) => !commands.includes(command))).toEqual([]);
});

test('every npm script and test that a document names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const names = DOCUMENTS.flatMap(listNpmScripts);
  expect(names.filter((name) => !(name in scripts))).toEqual([]);
  expect(names.length).toBeGreaterThan(10);
  const tests = DOCUMENTS.flatMap(listTestFiles);
  expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  expect(tests).not.toEqual([]);
});
