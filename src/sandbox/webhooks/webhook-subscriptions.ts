/** Webhook subscriptions of the sandbox: who is told of which changes, and the sending. */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { recordView } from '../records/record-view.ts';
import type { RecordEvent, RecordEventType } from '../records/table.ts';
import { Refusal } from '../refusal.ts';
import type { Settings } from '../settings.ts';

/** A client that makes more of them is in a loop. */
const SUBSCRIPTIONS_MAX = 10_000;
const REQUEST_EVENTS_MAX = 10;
/** Of one subscription; what comes beyond is dropped, as if the receiver had been away for too long. */
const WAITING_MAX = 1_000_000;
const TRIES_MAX = 10;
const FIRST_RETRY_MS = 100;
const REQUEST_MS = 10_000;

export const SIGNATURE_HEADER = 'x-sandbox-signature';

export interface SubscriptionToMake {
  objectName: string;
  events: RecordEventType[];
  url: string;
  secret: string;
  /** Sent with each event, for the receiver's own use. */
  account: string;
}

export interface Subscription extends SubscriptionToMake {
  id: string;
  expiresAtMs: number;
}

interface Line extends Subscription {
  waiting: WebhookEvent[];
  isSending: boolean;
}

export class Webhooks {
  readonly #settings: Settings;
  readonly #now: () => Date;
  readonly #closing = new AbortController();
  readonly #lines = new Map<string, Line>();

  constructor(settings: Settings, now: () => Date) {
    this.#settings = settings;
    this.#now = now;
  }

  create(subscription: SubscriptionToMake): Subscription {
    if (this.#lines.size >= SUBSCRIPTIONS_MAX) {
      const message = `The sandbox holds at most ${SUBSCRIPTIONS_MAX} subscriptions`;
      throw new Refusal(409, { code: 'subscription_limit_reached', message });
    }
    const id = randomUUID();
    const line = { ...subscription, id, expiresAtMs: this.#end(), waiting: [], isSending: false };
    this.#lines.set(id, line);
    return line;
  }

  list(): Subscription[] {
    return [...this.#lines.values()];
  }

  /** Throws a Refusal (404) if there is none. */
  renew(id: string): Subscription {
    const line = this.#get(id);
    line.expiresAtMs = this.#end();
    return line;
  }

  /** Throws a Refusal (404) if there is none. */
  delete(id: string): void {
    this.#get(id).waiting.length = 0;
    this.#lines.delete(id);
  }

  /** Tells the subscribers whose objects and events match. */
  tell(happened: RecordEvent): void {
    if (this.#lines.size === 0) return;
    for (const event of eventsOf(happened, randomUUID)) {
      for (const line of this.#lines.values()) {
        if (this.#wants(line, event) && line.waiting.length < WAITING_MAX) {
          line.waiting.push(event);
          void this.#send(line);
        }
      }
    }
  }

  close(): void {
    this.#closing.abort();
  }

  #end(): number {
    return this.#now().getTime() + this.#settings.subscriptionLifetimeSeconds * 1_000;
  }

  #get(id: string): Line {
    const line = this.#lines.get(id);
    if (line && line.expiresAtMs > this.#now().getTime()) return line;
    throw new Refusal(404, {
      code: 'subscription_not_found',
      message: 'There is no such subscription',
    });
  }

  #wants({ objectName, events, expiresAtMs }: Line, event: WebhookEvent): boolean {
    return (
      objectName === event.objectName &&
      events.some((type) => event.type === `${objectName}.${type}`) &&
      expiresAtMs > this.#now().getTime()
    );
  }

  /** One request at a time, so that events come in their order. */
  async #send(line: Line): Promise<void> {
    if (line.isSending) return;
    line.isSending = true;
    const { signal } = this.#closing;
    while (line.waiting.length > 0 && !signal.aborted) {
      // Those of the same turn go together.
      await delay(this.#settings.webhooks.delayMs, undefined, { signal }).catch(() => {});
      const events = line.waiting.splice(0, REQUEST_EVENTS_MAX);
      const { dropped, reordered, doubled, forged } = this.#settings.webhooks;
      if (dropped || events.length === 0) continue;
      const sent = reordered ? events.toReversed() : events;
      const body = JSON.stringify({
        events: sent.map((event) => ({ ...event, account: line.account })),
      });
      if (forged) await this.#post(line, body, 'not the secret');
      for (let time = doubled ? 2 : 1; time > 0; time -= 1) await this.#deliver(line, body);
    }
    line.isSending = false;
  }

  async #deliver(line: Line, body: string): Promise<void> {
    const { signal } = this.#closing;
    for (let tries = 0; tries < TRIES_MAX && this.#lines.has(line.id); tries += 1) {
      if (signal.aborted || (await this.#post(line, body, line.secret))) return;
      await delay(FIRST_RETRY_MS * 2 ** tries, undefined, { signal }).catch(() => {});
    }
  }

  /** Whether the receiver has accepted it. */
  async #post({ url }: Line, body: string, secret: string): Promise<boolean> {
    const seconds = Math.floor(this.#now().getTime() / 1_000);
    const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
    const headers = {
      'content-type': 'application/json',
      [SIGNATURE_HEADER]: `t=${seconds},v1=${digest}`,
    };
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(REQUEST_MS)]);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body,
        signal,
        redirect: 'manual',
      });
      await response.body?.cancel();
      return response.ok;
    } catch {
      return false;
    }
  }
}

/** How webhooks tell of what happens to records. */

/** An event as webhooks carry it, before it is addressed to a subscriber. */
interface WebhookEvent {
  id: string;
  /** `contacts.updated` */
  type: string;
  objectName: string;
  recordId: string;
  occurredAt: string;
  changedFields?: string[];
  /** The whole record, of new ones alone: others have to be read. */
  record?: Record<string, unknown>;
  association?: { objectName: string; recordId: string };
  mergedId?: string;
}

/** One event, and another for each reference that names another record now. */
function* eventsOf(event: RecordEvent, newId: () => string): Generator<WebhookEvent> {
  const { type, definition, record, mergedId } = event;
  const changedFields = changedFieldsOf(event);
  const about = { objectName: definition.name, recordId: record.id };
  const occurredAt = new Date(record.updatedAtMs).toISOString();
  yield {
    id: newId(),
    type: `${definition.name}.${type}`,
    ...about,
    occurredAt,
    ...(type === 'updated' && { changedFields }),
    ...(type === 'created' && { record: recordView(definition)(record) }),
    ...(mergedId !== undefined && { mergedId }),
  };
  if (type !== 'created' && type !== 'updated') return;
  for (const { name, references } of definition.fields) {
    const recordId = record.values[name];
    if (references === undefined || recordId == null || !changedFields.includes(name)) continue;
    yield {
      id: newId(),
      type: `${definition.name}.associated`,
      ...about,
      occurredAt,
      association: { objectName: references, recordId: String(recordId) },
    };
  }
}

function changedFieldsOf({ record, before }: RecordEvent): string[] {
  return Object.keys(record.values).filter(
    (name) => JSON.stringify(record.values[name]) !== JSON.stringify(before?.values[name]),
  );
}
