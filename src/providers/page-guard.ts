/** Ends reads whose pages repeat or never end, and lists that do not fit into a record. */
import { hash } from 'node:crypto';
import { ProviderError } from './provider-error.ts';

const REPETITION = 'The pages of the list repeat themselves';

/** The maximum size of one list inside a record, as JSON. The whole list is held in memory. */
const NESTED_LIST_LENGTH_MAX = 32 * 1024 * 1024;

/** Returns the size of a list with the items of the next page. Throws BAD_REQUEST if the list is too large for a record. */
export function addListLength(length: number, pageItems: readonly unknown[]): number {
  const total = length + JSON.stringify(pageItems).length;
  if (total <= NESTED_LIST_LENGTH_MAX) return total;
  throw new ProviderError(
    'BAD_REQUEST',
    `A list inside a record has more than ${NESTED_LIST_LENGTH_MAX / 1024 / 1024} MB`,
  );
}

/** The next page would repeat the last one. A retry may return another page. */
export function createRepetitionError(): ProviderError {
  return new ProviderError('RETRYABLE', REPETITION);
}

/** The cursors of a list repeat in a cycle, so a retry would repeat its pages. */
export class RepeatedCursors extends ProviderError {
  constructor() {
    super('RETRYABLE', REPETITION);
  }
}

/**
 * Checks the cursor of the next page, and returns the mark to pass with the next check. Throws RepeatedCursors if the
 * cursors repeat in a cycle of any length. Detection takes at most one round more than twice the pages before it. The mark
 * is the hash of the cursor after 1, 2, 4, 8 and so on pages (Brent's algorithm), so that it has a constant size.
 */
export function checkCursor(
  cursor: string,
  { mark, pagesRead }: { mark: string | null; pagesRead: number },
): string | null {
  const cursorHash = hash('sha256', cursor, 'base64url');
  if (cursorHash === mark) throw new RepeatedCursors();
  const isPowerOfTwo = (pagesRead & (pagesRead - 1)) === 0;
  return isPowerOfTwo ? cursorHash : mark;
}
