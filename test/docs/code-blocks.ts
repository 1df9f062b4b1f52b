/** Lists the code blocks of all documents, and the blocks that commands.test.ts runs. */
import { type CodeBlock, DOCUMENTS, listCodeBlocks } from '../support/documents.ts';
import { BLOCKS_NOT_RUN } from './not-run.ts';

export const CODE_BLOCKS = DOCUMENTS.flatMap(listCodeBlocks);

export function isRun({ text }: CodeBlock): boolean {
  return !BLOCKS_NOT_RUN.some(({ start }) => text.startsWith(start));
}

/** Lists the blocks in a language that commands.test.ts runs, of one document or of all. */
export function listBlocks(language: string, document?: string): CodeBlock[] {
  return CODE_BLOCKS.filter(
    (block) =>
      block.language === language && (!document || block.document === document) && isRun(block),
  );
}

/** Returns the file name of a script, which its first line contains. */
export function readName(script: string): string {
  return script.split('\n')[0]?.replace('// ', '') ?? '';
}
