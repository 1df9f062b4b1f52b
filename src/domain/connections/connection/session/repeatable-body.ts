/**
 * The body of a forwarded request, which is streamed. A small body is also buffered, so that it can be sent a second
 * time.
 */
import type { Readable } from 'node:stream';
import { ProviderError } from '../../../../providers/provider-error.ts';

/** The maximum size of a buffered body. Most bodies of API requests are far smaller. */
const BUFFERED_BYTES_MAX = 65_536;

export class RepeatableBody {
  readonly #source: Readable | null;
  #buffered: Buffer[] = [];
  #bytes = 0;
  /** True if nothing was sent yet, or if the whole body is buffered. */
  #isRepeatable = true;

  constructor(source: Readable | null) {
    this.#source = source;
  }

  get isRepeatable(): boolean {
    return this.#isRepeatable;
  }

  /** Returns the chunks of the body, or null if there is none. May be called again while the body is repeatable. */
  open(): AsyncIterable<Buffer> | null {
    if (!this.#source) return null;
    return this.#bytes > 0 ? iterate(this.#buffered) : this.#stream(this.#source);
  }

  /** Reads the whole body, which can still be sent. Throws BAD_REQUEST if it is too large for the buffer. */
  async read(): Promise<Buffer> {
    for await (const _chunk of this.open() ?? []) {
      if (this.#bytes > BUFFERED_BYTES_MAX) {
        const limit = `${BUFFERED_BYTES_MAX} bytes`;
        throw new ProviderError('BAD_REQUEST', `The body exceeds ${limit}, so it can't be signed.`);
      }
    }
    return Buffer.concat(this.#buffered);
  }

  async *#stream(source: Readable): AsyncGenerator<Buffer> {
    this.#isRepeatable = false;
    try {
      for await (const chunk of source.iterator({ destroyOnReturn: false })) {
        this.#bytes += chunk.length;
        if (this.#bytes <= BUFFERED_BYTES_MAX) this.#buffered.push(chunk);
        else this.#buffered = [];
        yield chunk;
      }
      this.#isRepeatable = this.#bytes <= BUFFERED_BYTES_MAX;
    } finally {
      // An unread body must not block the caller's next request on the same connection.
      source.resume();
    }
  }
}

async function* iterate(chunks: Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}
