/** Formats of result streams over HTTP, and the choice between them. */
import type { ExecutionResult } from 'graphql';
import { toGraphQLError } from '../../graphql/execution/graphql-errors.ts';
import { type Message, surround } from '../../graphql/execution/message.ts';
import type { Results } from '../../graphql/execution/operation-context.ts';

export interface ResultStreamFormat {
  contentType: string;
  /** The first bytes. They let a client's fetch resolve before the first event. */
  prologue: string;
  keepAlive: string;
  encode(message: Message): readonly Buffer[];
  /** The last bytes after a completed operation. */
  completion: string;
  /** The last bytes if the server ends the stream before the operation completes. */
  interruption: string;
}

/** Server-sent events of graphql-sse: `next` for each message, `complete` after the last one. */
const SERVER_SENT_EVENTS: ResultStreamFormat = {
  contentType: 'text/event-stream; charset=utf-8',
  prologue: ':\n\n',
  keepAlive: ':\n\n',
  encode: (message) => message.serverSentEvent,
  completion: 'event: complete\ndata:\n\n',
  interruption: '',
};

const PART_START = '\r\ncontent-type: application/json\r\n\r\n';
const PART_END = '\r\n--graphql';

function formatPart(json: string): string {
  return `${PART_START}${json}${PART_END}`;
}

const PAYLOAD_START = Buffer.from(`${PART_START}{"payload":`);
const PAYLOAD_END = Buffer.from(`}${PART_END}`);

const INTERRUPTION_PART = formatPart(
  JSON.stringify({
    payload: null,
    errors: [
      {
        message: 'The server ended the stream. Subscribe again.',
        extensions: { code: 'SERVICE_UNAVAILABLE' },
      },
    ],
  }),
);

/**
 * Apollo's multipart subscription protocol 1.0. Each part is sent together with the boundary after it, because clients
 * read a part only when its boundary has arrived.
 */
const MULTIPART: ResultStreamFormat = {
  contentType: 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
  prologue: '\r\n--graphql',
  keepAlive: formatPart('{}'),
  encode: ({ jsonParts }) => surround(PAYLOAD_START, jsonParts, PAYLOAD_END),
  completion: '--\r\n',
  interruption: `${INTERRUPTION_PART}--\r\n`,
};

const WILDCARD = /\*\/\*|text\/\*/;

/**
 * Returns the format for a stream. Null if the client accepts no format. A format that the client names precedes
 * wildcards.
 */
function findAcceptedFormat(accept: string | null | undefined): ResultStreamFormat | null {
  if (!accept) return SERVER_SENT_EVENTS;
  const types = accept.toLowerCase().split(',');
  if (types.some((type) => type.includes('text/event-stream'))) return SERVER_SENT_EVENTS;
  if (types.some(isMultipart)) return MULTIPART;
  return types.some((type) => WILDCARD.test(type)) ? SERVER_SENT_EVENTS : null;
}

function isMultipart(type: string): boolean {
  return (
    /^\s*multipart\/mixed\s*(;|$)/.test(type) && /;\s*subscriptionspec="?1\.0"?\s*(;|$)/.test(type)
  );
}

/** Returns the format for a stream, or for any result if the client accepts only streams. Null for a JSON response. */
export function findResultStreamFormat(
  accept: string | null | undefined,
  result: unknown,
): ResultStreamFormat | null {
  if (acceptsOnlyResultStream(accept)) return SERVER_SENT_EVENTS;
  return isResultStream(result) ? findAcceptedFormat(accept) : null;
}

/** Returns the results, or an error with status 406 if the client accepts no format for a stream. */
export function refuseUnacceptable(accept: string | null | undefined, results: Results): Results {
  if (!isResultStream(results) || findAcceptedFormat(accept)) return results;
  // The operation is already open. Closing its iterator releases the caller's share of subscriptions.
  void results[Symbol.asyncIterator]().return?.();
  return NOT_ACCEPTABLE;
}

const NOT_ACCEPTABLE: ExecutionResult = {
  errors: [
    toGraphQLError(
      'BAD_USER_INPUT',
      'A subscription over HTTP needs an Accept header with text/event-stream or multipart/mixed;subscriptionSpec=1.0.',
      { extra: { status: 406 } },
    ),
  ],
};

/** True if the client accepts server-sent events and no JSON. */
export function acceptsOnlyResultStream(accept: string | null | undefined): boolean {
  return !!accept?.includes('text/event-stream') && !/json|\*\/\*/.test(accept);
}

export function isResultStream(result: unknown): result is AsyncIterable<Message> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
}
