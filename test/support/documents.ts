/** Finds the documents and their code blocks. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');
export const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'console/README.md',
  'test/README.md',
  ...globSync('docs/**/*.md', { cwd: ROOT, exclude: ['docs/node_modules', 'docs/dist'] }).sort(),
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
