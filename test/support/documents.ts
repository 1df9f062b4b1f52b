/** Finds the commands and code blocks of the documentation. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');
export const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'console/README.md',
  'test/README.md',
  ...globSync('docs/**/*.md', { cwd: ROOT, exclude: ['docs/node_modules'] }).sort(),
];

export interface CodeBlock {
  document: string;
  /** Line number of the first line of its text. */
  line: number;
  language: string;
  text: string;
}

export function listCodeBlocks(document: string): CodeBlock[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map((match) => ({
    document,
    line: text.slice(0, match.index).split('\n').length + 1,
    language: match[1] ?? '',
    text: match[2] ?? '',
  }));
}

const PROGRAM = /^(?:[A-Z_]+=\S+ )*(?:npm|npx|curl|\.ci\/run|node_modules\/\.bin\/\w+|prisma) ?/;

/** Returns the commands in code spans. */
export function listCommands(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8').replaceAll(/^```.*?^```$/gms, '');
  const quoted = [...text.matchAll(/`([^`]+)`/g)].map((match) =>
    (match[1] ?? '').replace(/\s+/g, ' '),
  );
  return quoted.filter((code) => PROGRAM.test(code));
}

/** Returns the test files that the document's commands run. */
export function listTestFiles(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  return [...text.matchAll(/ (test\/[\w/.-]+\.test\.ts)/g)].map(([, path]) => path as string);
}

/** Returns the names of the scripts that the document runs by `npm run`. */
export function listNpmScripts(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  return [...text.matchAll(/npm run (?:-s )?([\w:]+(?:-[\w:]+)*)/g)].map(
    ([, name]) => name as string,
  );
}
