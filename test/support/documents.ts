/** Commands and examples of the documentation. */
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

export interface Block {
  document: string;
  /** The line of its first line of text. */
  line: number;
  language: string;
  text: string;
}

export function blocksOf(document: string): Block[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map((found) => ({
    document,
    line: text.slice(0, found.index).split('\n').length + 1,
    language: found[1] ?? '',
    text: found[2] ?? '',
  }));
}

const PROGRAM = /^(?:[A-Z_]+=\S+ )*(?:npm|npx|curl|\.ci\/run|node_modules\/\.bin\/\w+|prisma) ?/;

/** Commands in the middle of a sentence. */
export function commandsIn(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8').replaceAll(/^```.*?^```$/gms, '');
  const quoted = [...text.matchAll(/`([^`]+)`/g)].map((found) =>
    (found[1] ?? '').replace(/\s+/g, ' '),
  );
  return quoted.filter((code) => PROGRAM.test(code));
}

/** Tests that a command runs. */
export function testsIn(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  return [...text.matchAll(/ (test\/[\w/.-]+\.test\.ts)/g)].map(([, path]) => path as string);
}

/** `npm run` of the documents, wherever it is. */
export function scriptsOf(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  return [...text.matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name]) => name as string);
}
