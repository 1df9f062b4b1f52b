/** What a reader of README.md and docs/ is told to run. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');
export const DOCUMENTS = ['README.md', ...globSync('docs/*.md', { cwd: ROOT }).sort()];

export interface Block {
  document: string;
  /** As a reader finds it. */
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

/** `npm run` of the documents, also in the middle of a sentence. */
export function scriptsOf(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  return [...text.matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name]) => name as string);
}
