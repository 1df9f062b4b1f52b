/** The body of a forwarded request: it is passed on as it comes, and a small one can be sent once more. */
import type { Readable } from 'node:stream';

/** More is not kept: most bodies of an API are far smaller. */
const KEPT_BYTES = 65_536;

export class RepeatableBody {
  readonly #source: Readable | null;
  #kept: Buffer[] = [];
  #bytes = 0;
  /** Nothing was sent yet, or all of it is kept. */
  #isRepeatable = true;

  constructor(source: Readable | null) {
    this.#source = source;
  }

  get isRepeatable(): boolean {
    return this.#isRepeatable;
  }

  /** Null if the request has none. May be called again while the body is repeatable. */
  open(): AsyncIterable<Buffer> | null {
    if (!this.#source) return null;
    return this.#bytes > 0 ? keptIn(this.#kept) : this.#readOf(this.#source);
  }

  async *#readOf(source: Readable): AsyncGenerator<Buffer> {
    this.#isRepeatable = false;
    try {
      for await (const chunk of source.iterator({ destroyOnReturn: false })) {
        this.#bytes += chunk.length;
        if (this.#bytes <= KEPT_BYTES) this.#kept.push(chunk);
        else this.#kept = [];
        yield chunk;
      }
      this.#isRepeatable = this.#bytes <= KEPT_BYTES;
    } finally {
      // An unread body must not stand before the caller's next request on the same connection.
      source.resume();
    }
  }
}

async function* keptIn(chunks: Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}
