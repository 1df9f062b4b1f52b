/** Reads server-sent events one after another. */
import type { Fetch } from './graphql-client.ts';

export interface StreamMessage {
  event: string;
  id?: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
  data: any;
}

export interface EventStream {
  status: number;
  headers: Headers;
  /** Returns the next message, or null at the end. Skips comments. */
  next(): Promise<StreamMessage | null>;
  /** Closes the connection. */
  close(): void;
}

interface Subscription {
  query: string;
  variables: Record<string, unknown>;
  headers: Record<string, string>;
  /** Default: `/graphql`. */
  path?: string;
}

/** Subscribes by a POST, as clients do that set headers. */
export async function openEventStream(
  fetch: Fetch,
  { query, variables, headers, path = '/graphql' }: Subscription,
): Promise<EventStream> {
  const aborting = new AbortController();
  const response = await fetch(path, {
    method: 'POST',
    headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
    signal: aborting.signal,
  });
  return { ...readEventStream(response), close: () => aborting.abort() };
}

function readEventStream(response: Response): Omit<EventStream, 'close'> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  const nextBlock = async (): Promise<string | null> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end >= 0) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        return block;
      }
      const { done, value } = await reader.read();
      if (done) return null;
      text += decoder.decode(value, { stream: true });
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    async next() {
      for (;;) {
        const block = await nextBlock();
        if (block === null) return null;
        const message = parseMessage(block);
        if (message) return message;
      }
    },
  };
}

function parseMessage(block: string): StreamMessage | null {
  const fields = new Map(
    block
      .split('\n')
      .map((line) => line.split(/: ?(.*)/s, 2) as [string, string])
      .filter(([name]) => name !== ''),
  );
  const event = fields.get('event');
  if (event === undefined) return null;
  const id = fields.get('id');
  const data = fields.get('data');
  return { event, ...(id !== undefined && { id }), data: data ? JSON.parse(data) : null };
}
