/** Detects reads whose pages repeat, which would otherwise never end. */
import { hash } from 'node:crypto';
import { ProviderError } from './provider-error.ts';

const REPETITION = 'The pages of the list repeat themselves';

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
