/** A result that is sent as a message. All subscribers of a message share the object, so each format is encoded once. */
import type { ExecutionResult } from 'graphql';
import { toPublicResult } from './graphql-errors.ts';

/** JSON in UTF-8, in consecutive parts. A short result is one part. */
type JsonParts = readonly Buffer[];

/** A result whose JSON may exist already. */
export interface SerializedResult extends ExecutionResult {
  jsonParts?: JsonParts | undefined;
}

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

  get jsonParts(): JsonParts {
    this.#jsonParts ??= [Buffer.from(JSON.stringify(toPublicResult(this)))];
    return this.#jsonParts;
  }

  /** The `next` event of graphql-sse. Its id is the cursor, so that Last-Event-ID resumes. */
  get serverSentEvent(): readonly Buffer[] {
    this.#serverSentEvent ??= surround(`event: next\n${this.#id}data: `, this.jsonParts, '\n\n');
    return this.#serverSentEvent;
  }

  get #id(): string {
    return this.cursor === undefined ? '' : `id: ${this.cursor}\n`;
  }
}

/** Yields the only message of an operation that is not a subscription. */
export async function* yieldMessage(result: SerializedResult): AsyncGenerator<Message> {
  yield new Message(result);
}

/** Returns the parts between two texts. A short message stays in one part, because each part is written separately. */
export function surround(before: string, parts: JsonParts, after: string): readonly Buffer[] {
  const allParts = [Buffer.from(before), ...parts, Buffer.from(after)];
  return parts.length === 1 ? [Buffer.concat(allParts)] : allParts;
}
