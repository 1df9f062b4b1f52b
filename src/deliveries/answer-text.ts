/** What a receiver has answered, as people read it. */

/** The beginning that is kept: enough for an error message. */
const KEPT_BYTES_MAX = 4 * 1024;

/** The beginning of a text, or a note that the answer is none; null for an empty one. */
export function answerText(body: Buffer, contentType: string | undefined): string | null {
  if (body.length === 0) return null;
  try {
    // Characters that the end of the beginning cuts are left out.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(
      body.subarray(0, KEPT_BYTES_MAX),
      {
        stream: true,
      },
    );
    // The database stores no NUL.
    if (!text.includes('\0')) return text;
  } catch {
    // No UTF-8.
  }
  return `(binary, ${contentType?.slice(0, 100) ?? 'of no content type'})`;
}
