/** Detects reads whose pages repeat, which would otherwise never end. */
import { hash } from 'node:crypto';
import { ProviderError } from './provider-error.ts';

export function createRepetitionError(): ProviderError {
  return new ProviderError('RETRYABLE', 'The pages of the list repeat themselves');
}

/**
 * Checks the cursor of the next page, and returns the mark to pass with the next check. Throws RETRYABLE if the cursors
 * repeat in a cycle of any length, at most after three rounds of it. The mark is the hash of the cursor after 1, 2, 4, 8
 * and so on pages (Brent's algorithm), so that it has a constant size.
 */
export function checkCursor(
  cursor: string,
  { mark, pagesRead }: { mark: string | null; pagesRead: number },
): string | null {
  const cursorHash = hash('sha256', cursor, 'base64url');
  if (cursorHash === mark) throw createRepetitionError();
  const isPowerOfTwo = (pagesRead & (pagesRead - 1)) === 0;
  return isPowerOfTwo ? cursorHash : mark;
}
