/**
 * Tests that commands.test.ts runs each example of the documentation, or not-run.ts says why not. Also tests that the
 * scripts and tests that documents name exist.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DOCUMENTS, ROOT } from '../support/documents.ts';
import { CODE_BLOCKS, isRun, listBlocks, readName } from './code-blocks.ts';
import { BLOCKS_NOT_RUN, COMMANDS_IN_TERMINALS, COMMANDS_NOT_RUN } from './not-run.ts';

test('runs each block, or says why not', () => {
  // Each fence must belong to a listed block. A block that is not listed would be neither run nor excused.
  const fences = DOCUMENTS.map((name) =>
    readFileSync(join(ROOT, name), 'utf8').match(/^\s*(```|~~~)/gm),
  );
  expect(CODE_BLOCKS).toHaveLength(fences.flatMap((matches) => matches ?? []).length / 2);
  const languages = new Set(CODE_BLOCKS.filter(isRun).map(({ language }) => language));
  expect([...languages].sort()).toEqual(['graphql', 'html', 'js', 'json', 'sh', 'sql', 'yaml']);
  const obsolete = BLOCKS_NOT_RUN.filter(
    ({ start }) => !CODE_BLOCKS.some(({ text }) => text.startsWith(start)),
  );
  expect(obsolete).toEqual([]);
  // A JavaScript block runs only if a shell block of its document runs its file.
  for (const { text, document } of listBlocks('js')) {
    const name = readName(text);
    expect(
      listBlocks('sh', document).filter((block) => block.text.includes(`node ${name} `)),
    ).not.toEqual([]);
  }
});

test('runs each command in a sentence, or says why not', () => {
  const runCommands = [...listBlocks('sh'), ...COMMANDS_IN_TERMINALS.map((text) => ({ text }))]
    .map(({ text }) => text.replaceAll('npm run -s', 'npm run'))
    .join('\n');
  const commands = DOCUMENTS.flatMap(listCommands);
  const reasons = new Set(COMMANDS_NOT_RUN.map(({ command }) => command));
  expect(
    commands.filter((command) => !runCommands.includes(command) && !reasons.has(command)),
  ).toEqual([]);
  expect([...reasons].filter((command) => !commands.includes(command))).toEqual([]);
});

test('runs TypeScript by the Node of the packages, because older versions cannot run it', () => {
  const commands = DOCUMENTS.flatMap((name) =>
    readFileSync(join(ROOT, name), 'utf8').match(
      /(?<!npm exec -- )(?<!\.bin\/)\bnode (?:--\S+ )*[\w/.-]+\.ts\b/g,
    ),
  ).filter((command) => command !== null);
  expect(commands).toEqual([COMMAND_IN_IMAGE]);
});

test('mentions only existing npm scripts and tests', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const names = DOCUMENTS.flatMap(listNpmScripts);
  expect(names.filter((name) => !(name in scripts))).toEqual([]);
  expect(names.length).toBeGreaterThan(10);
  const tests = DOCUMENTS.flatMap(listTestFiles);
  expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  expect(tests).not.toEqual([]);
});

/** The image has Node 24. */
const COMMAND_IN_IMAGE = 'node src/commands/backup.ts';

const COMMAND_START =
  /^(?:[A-Z_]+=\S+ )*(?:npm|npx|curl|\.ci\/run|node_modules\/\.bin\/\w+|prisma)(?: |$)/;

/** Returns the commands in code spans. */
function listCommands(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8').replaceAll(/^```.*?^```$/gms, '');
  const quoted = [...text.matchAll(/`([^`]+)`/g)].map((match) =>
    (match[1] ?? '').replace(/\s+/g, ' '),
  );
  return quoted.filter((code) => COMMAND_START.test(code));
}

/** Returns the test files that the document's commands run. */
function listTestFiles(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  return [...text.matchAll(/ (test\/[\w/.-]+\.test\.ts)/g)].map(([, path]) => path as string);
}

/** Returns the names of the scripts that the document runs by `npm run`. */
function listNpmScripts(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  return [...text.matchAll(/npm run (?:-s )?([\w:]+(?:-[\w:]+)*)/g)].map(
    ([, name]) => name as string,
  );
}
