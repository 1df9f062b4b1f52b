/** Tests the rules that help people to find a file. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const allFiles = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));
const files = allFiles.filter((file) => /^(src|test|bench|scripts)\/.*\.ts$/.test(file));
const sources = files.filter((file) => file.startsWith('src/'));

/** The number of files above which a folder needs subfolders. */
const FOLDER_FILES_MAX = 20;
const FILE_LINES_MAX = 400;

test('a folder has at most 20 files', () => {
  const largeFolders = [...Map.groupBy(files, (file) => dirname(file))]
    .filter(([, filesInFolder]) => filesInFolder.length > FOLDER_FILES_MAX)
    .map(([folder, filesInFolder]) => `${folder} has ${filesInFolder.length}`);
  expect(largeFolders, 'move some files of each folder to a subfolder').toEqual([]);
  expect(sources.length).toBeGreaterThan(300);
});

test('a file has at most 400 lines', () => {
  const longFiles = sources
    .map((file) => ({ file, lines: countLines(readFileSync(join(root, file), 'utf8')) }))
    .filter(({ lines }) => lines > FILE_LINES_MAX);
  expect(longFiles, 'move a part of each file to a file of its own').toEqual([]);
});

test('files share a name only if they are the same noun or the same part of a provider', () => {
  const filesByName = [...Map.groupBy(sources, (file) => basename(file)).values()];
  const ambiguousNames = filesByName.filter(
    (files) =>
      new Set(files.map(toNoun)).size > 1 || new Set(files.map(toLocation)).size < files.length,
  );
  expect(ambiguousNames).toEqual([]);
});

test('each pattern in the configuration of vitest names a file', () => {
  const config = ['vitest.config.ts', 'test/support/sequencer.ts']
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');
  const patterns = [...config.matchAll(/'(test\/[^']+\.test\.ts)'/g)].flatMap(([, pattern]) =>
    expandBraces(pattern!),
  );
  const unused = patterns.filter((pattern) => globSync(pattern, { cwd: root }).length === 0);
  expect(patterns.length).toBeGreaterThan(90);
  expect(unused).toEqual([]);
});

test('comments and documents name only files and folders that exist', () => {
  const folders = globSync(['src/*/', 'test/*/'], { cwd: root }).map((path) => basename(path));
  const topFolder = `(?:src|test|bench|scripts|${[...new Set(folders)].join('|')})`;
  const namedPath = new RegExp(
    `(?<![\\w./@-])${topFolder}/(?:[\\w-]+/)*(?:[\\w-]+\\.(?:test\\.)?tsx?(?!\\w)|(?=[)\`. ]))`,
    'g',
  );
  const texts = allFiles.filter((file) => /\.(tsx?|md|prisma|yaml|yml)$/.test(file));
  const exists = (path: string) =>
    ['', 'src', 'test', 'console'].some((folder) => existsSync(join(root, folder, path)));
  const missing = texts.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(namedPath)]
      .map(([path]) => path)
      .filter((path) => !exists(path))
      .map((path) => `${file}: ${path}`),
  );
  expect(missing).toEqual([]);
});

/** Returns a pattern for each of the alternatives. */
function expandBraces(pattern: string): string[] {
  const match = /^(.*)\{([^{}]*)\}(.*)$/.exec(pattern);
  if (!match) return [pattern];
  const [, before, alternatives, after] = match;
  return alternatives!.split(',').flatMap((part) => expandBraces(`${before}${part}${after}`));
}

test('imports stand above the code of a file', () => {
  const lateImport = /^(?:export )?(?:const|function|interface|class|type) [\s\S]*^import /m;
  const late = sources.filter((file) => lateImport.test(readFileSync(join(root, file), 'utf8')));
  expect(late).toEqual([]);
});

test('constants that are upper bounds end in _MAX', () => {
  const misplacedBound = /\bconst ((?:MAX|MOST|LONGEST)_[A-Z_]+|[A-Z_]+_MOST)\b/g;
  const misplaced = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(misplacedBound)].map(([, name]) => [
      file,
      name,
    ]),
  );
  expect(misplaced).toEqual([]);
});

/** Returns the number of lines. Every line ends with a line break. */
function countLines(text: string): number {
  return text.split('\n').length - 1;
}

/** Returns the noun of a file: its part of a provider, or its path below the layer. */
function toNoun(file: string): string {
  return file.replace(/^src\/providers\/[^/]+\//, 'part ').replace(/^src\/[^/]+\//, 'noun ');
}

/** Returns the provider or the layer of a file. */
function toLocation(file: string): string {
  return /^src\/(providers\/[^/]+|[^/]+)\//.exec(file)?.[1] ?? '';
}
