import type { ExecutionResult } from 'graphql';
import { toPublicResult } from './graphql-errors.ts';

/** JSON in UTF-8, in consecutive parts. A short result is one part. */
type JsonParts = readonly Buffer[];

/** A result, with its JSON if it has been serialized. */
export interface SerializedResult extends ExecutionResult {
  jsonParts?: JsonParts | undefined;
}

/** A result that is sent as a message. Its subscribers share the object, so that each format is encoded once. */
export class Message implements SerializedResult {
  readonly data: ExecutionResult['data'];
  readonly errors: ExecutionResult['errors'];
  readonly extensions: ExecutionResult['extensions'];
  /** The cursor after which a client resumes. Undefined if the stream can't be resumed. */
  readonly cursor: string | undefined;
  #jsonParts: JsonParts | undefined;
  #serverSentEvent: readonly Buffer[] | undefined;

  constructor({ data, errors, extensions, jsonParts }: SerializedResult, cursor?: string) {
    this.data = data;
    this.errors = errors;
    this.extensions = extensions;
    this.cursor = cursor;
    this.#jsonParts = jsonParts;
  }

  /** The result as JSON. */
  get jsonParts(): JsonParts {
    this.#jsonParts ??= [Buffer.from(JSON.stringify(toPublicResult(this)))];
    return this.#jsonParts;
  }

  /** The `next` event of graphql-sse. Its id is the cursor, so that Last-Event-ID resumes. */
  get serverSentEvent(): readonly Buffer[] {
    this.#serverSentEvent ??= surround(
      Buffer.from(`event: next\n${this.#id}data: `),
      this.jsonParts,
      EVENT_END,
    );
    return this.#serverSentEvent;
  }

  get #id(): string {
    return this.cursor === undefined ? '' : `id: ${this.cursor}\n`;
  }
}

/** Yields a single result as a message. */
export async function* yieldMessage(result: SerializedResult): AsyncGenerator<Message> {
  yield new Message(result);
}

const EVENT_END = Buffer.from('\n\n');

/** Returns the parts between two texts. A short message stays in one part, because each part is written separately. */
export function surround(before: Buffer, parts: JsonParts, after: Buffer): readonly Buffer[] {
  const allParts = [before, ...parts, after];
  return parts.length === 1 ? [Buffer.concat(allParts)] : allParts;
}
