import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { parseInput, parseJsonBody } from '../request.ts';
import type { SandboxRoute } from '../router.ts';

/** The maximum number of messages in a box. The oldest are dropped. */
const MESSAGES_PER_BOX_MAX = 1_000;
/** The maximum size of all boxes, which protects the memory during long delivery runs. */
const TOTAL_CHARACTERS_MAX = 128 * 1024 * 1024;
/** The size counted for each message in addition to its body, mostly its headers. */
const MESSAGE_OVERHEAD_CHARACTERS = 1_024;

interface InboxMessage {
  receivedAt: string;
  headers: IncomingHttpHeaders;
  body: unknown;
  /** The exact body, for checking signatures. */
  rawBody: string;
}

interface StoredMessage extends Omit<InboxMessage, 'body'> {
  box: string;
}

/** Stores messages that were posted to named boxes. It is a webhook receiver for trying deliveries. */
export class Inbox {
  readonly #now: () => Date;
  /** Sets keep insertion order, so the first message is the oldest. */
  readonly #messages = new Set<StoredMessage>();
  readonly #boxes = new Map<string, Set<StoredMessage>>();
  #characters = 0;

  constructor(now: () => Date) {
    this.#now = now;
  }

  receive(box: string, headers: IncomingHttpHeaders, rawBody: string): void {
    const message = { box, receivedAt: this.#now().toISOString(), headers, rawBody };
    const messages = this.#boxes.get(box) ?? new Set();
    this.#boxes.set(box, messages.add(message));
    this.#messages.add(message);
    this.#characters += countCharacters(message);
    if (messages.size > MESSAGES_PER_BOX_MAX) this.#drop(messages.values().next().value!);
    while (this.#characters > TOTAL_CHARACTERS_MAX)
      this.#drop(this.#messages.values().next().value!);
  }

  count(box: string): number {
    return this.#boxes.get(box)?.size ?? 0;
  }

  /** Returns the newest messages of a box, oldest first. */
  list(box: string, limit = MESSAGES_PER_BOX_MAX): InboxMessage[] {
    return [...(this.#boxes.get(box) ?? [])]
      .slice(-limit)
      .map(({ receivedAt, headers, rawBody }) => ({
        receivedAt,
        headers,
        body: JSON.parse(rawBody),
        rawBody,
      }));
  }

  clear(box: string): void {
    for (const message of this.#boxes.get(box) ?? []) this.#drop(message);
  }

  #drop(message: StoredMessage): void {
    const messages = this.#boxes.get(message.box)!;
    messages.delete(message);
    if (messages.size === 0) this.#boxes.delete(message.box);
    this.#messages.delete(message);
    this.#characters -= countCharacters(message);
  }
}

function countCharacters({ rawBody }: StoredMessage): number {
  return rawBody.length + MESSAGE_OVERHEAD_CHARACTERS;
}

const boxSchema = z.object({
  name: z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'has 1 to 64 letters, digits and dashes'),
});
const listSchema = z.object({ limit: z.coerce.number().int().min(1).max(1_000).default(100) });

/** Creates the routes of the inbox. Like a webhook receiver, they require no credentials. Readers verify signatures. */
export function createInboxRoutes(inbox: Inbox): SandboxRoute[] {
  const pattern = '/inbox/:name';
  return [
    {
      method: 'POST',
      pattern,
      handle(request) {
        parseJsonBody(request);
        inbox.receive(parseInput(boxSchema, request.params).name, request.headers, request.body);
        return { status: 204 };
      },
    },
    {
      method: 'GET',
      pattern,
      handle({ params, query }) {
        const { name } = parseInput(boxSchema, params);
        const { limit } = parseInput(listSchema, Object.fromEntries(query));
        return {
          status: 200,
          json: { total: inbox.count(name), messages: inbox.list(name, limit) },
        };
      },
    },
    {
      method: 'DELETE',
      pattern,
      handle({ params }) {
        inbox.clear(parseInput(boxSchema, params).name);
        return { status: 204 };
      },
    },
  ];
}
