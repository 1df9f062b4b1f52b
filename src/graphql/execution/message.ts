/** A result for subscribers. All its subscribers share the object, so each format is encoded once. */
import type { ExecutionResult } from 'graphql';
import { toPublicResult } from './graphql-errors.ts';

export class Message implements ExecutionResult {
  readonly data: ExecutionResult['data'];
  readonly errors: ExecutionResult['errors'];
  /** The cursor after which a client resumes. Undefined if the stream can't be resumed. */
  readonly cursor: string | undefined;
  #json: string | undefined;
  #serverSentEvent: Buffer | undefined;

  constructor({ data, errors }: ExecutionResult, cursor?: string) {
    this.data = data;
    this.errors = errors;
    this.cursor = cursor;
  }

  /** The result as JSON. */
  get json(): string {
    this.#json ??= JSON.stringify(toPublicResult(this));
    return this.#json;
  }

  /** The `next` event of graphql-sse. Its id is the cursor, so that Last-Event-ID resumes. */
  get serverSentEvent(): Buffer {
    this.#serverSentEvent ??= Buffer.from(`event: next\n${this.#id}data: ${this.json}\n\n`);
    return this.#serverSentEvent;
  }

  get #id(): string {
    return this.cursor === undefined ? '' : `id: ${this.cursor}\n`;
  }
}
