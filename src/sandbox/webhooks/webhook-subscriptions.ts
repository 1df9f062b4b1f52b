/** Webhook subscriptions of the sandbox, and the delivery of their events. */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { OBJECT_NAMES } from '../records/objects.ts';
import { createRecordView } from '../records/record-view.ts';
import { RECORD_EVENTS, type RecordEvent, type RecordEventType } from '../records/table.ts';
import { parseInput, parseJsonBody } from '../request.ts';
import type { SandboxRoute } from '../router.ts';
import { SandboxRefusal } from '../sandbox-refusal.ts';
import type { Settings } from '../settings.ts';

/** The maximum number of subscriptions. A client that creates more is in a loop. */
const SUBSCRIPTIONS_MAX = 10_000;
/** The maximum number of events in a request. */
const REQUEST_EVENTS_MAX = 10;
/** The maximum number of queued events of a subscription. A long outage of the receiver loses later events. */
const QUEUED_EVENTS_MAX = 1_000_000;
const ATTEMPTS_MAX = 10;
const FIRST_RETRY_MS = 100;
const REQUEST_TIMEOUT_MS = 10_000;

const SIGNATURE_HEADER = 'x-sandbox-signature';

interface SubscriptionInput {
  objectName: string;
  events: RecordEventType[];
  url: string;
  secret: string;
  /** The receiver's name of the account, which each event repeats. */
  account: string;
}

interface WebhookSubscription extends SubscriptionInput {
  id: string;
  expiresAtMs: number;
}

interface DeliveryQueue extends WebhookSubscription {
  queuedEvents: WebhookEvent[];
  isSending: boolean;
}

export class Webhooks {
  readonly #settings: Settings;
  readonly #now: () => Date;
  readonly #closing = new AbortController();
  readonly #queues = new Map<string, DeliveryQueue>();

  constructor(settings: Settings, now: () => Date) {
    this.#settings = settings;
    this.#now = now;
  }

  create(subscription: SubscriptionInput): WebhookSubscription {
    if (this.#queues.size >= SUBSCRIPTIONS_MAX) {
      const message = `The sandbox holds at most ${SUBSCRIPTIONS_MAX} subscriptions`;
      throw new SandboxRefusal(409, { code: 'subscription_limit_reached', message });
    }
    const id = randomUUID();
    const queue = {
      ...subscription,
      id,
      expiresAtMs: this.#computeExpiry(),
      queuedEvents: [],
      isSending: false,
    };
    this.#queues.set(id, queue);
    return queue;
  }

  list(): WebhookSubscription[] {
    return [...this.#queues.values()];
  }

  /** Extends a subscription. Throws a SandboxRefusal (404) if it does not exist. */
  renew(id: string): WebhookSubscription {
    const queue = this.#get(id);
    queue.expiresAtMs = this.#computeExpiry();
    return queue;
  }

  /** Deletes a subscription and its queued events. Throws a SandboxRefusal (404) if it does not exist. */
  delete(id: string): void {
    this.#get(id).queuedEvents.length = 0;
    this.#queues.delete(id);
  }

  /** Queues the event for matching subscriptions. */
  notify(recordEvent: RecordEvent): void {
    if (this.#queues.size === 0) return;
    for (const event of createEvents(recordEvent, randomUUID)) {
      for (const queue of this.#queues.values()) {
        if (this.#isSubscribed(queue, event) && queue.queuedEvents.length < QUEUED_EVENTS_MAX) {
          queue.queuedEvents.push(event);
          void this.#send(queue);
        }
      }
    }
  }

  close(): void {
    this.#closing.abort();
  }

  #computeExpiry(): number {
    return this.#now().getTime() + this.#settings.subscriptionLifetimeSeconds * 1_000;
  }

  #get(id: string): DeliveryQueue {
    const queue = this.#queues.get(id);
    if (queue && queue.expiresAtMs > this.#now().getTime()) return queue;
    throw new SandboxRefusal(404, {
      code: 'subscription_not_found',
      message: 'There is no such subscription',
    });
  }

  #isSubscribed({ objectName, events, expiresAtMs }: DeliveryQueue, event: WebhookEvent): boolean {
    return (
      objectName === event.objectName &&
      events.some((type) => event.type === `${objectName}.${type}`) &&
      expiresAtMs > this.#now().getTime()
    );
  }

  /** Sends queued events, one request at a time, so that events keep their order. */
  async #send(queue: DeliveryQueue): Promise<void> {
    if (queue.isSending) return;
    queue.isSending = true;
    const { signal } = this.#closing;
    while (queue.queuedEvents.length > 0 && !signal.aborted) {
      // Even a delay of 0 waits one turn of the event loop, so that the events of one change share a request.
      await delay(this.#settings.webhooks.delayMs, undefined, { signal }).catch(() => {});
      const events = queue.queuedEvents.splice(0, REQUEST_EVENTS_MAX);
      const { dropped, reordered, doubled, forged } = this.#settings.webhooks;
      if (dropped || events.length === 0) continue;
      const orderedEvents = reordered ? events.toReversed() : events;
      const body = JSON.stringify({
        events: orderedEvents.map((event) => ({ ...event, account: queue.account })),
      });
      if (forged) await this.#post(queue, body, 'not the secret');
      await this.#deliver(queue, body);
      if (doubled) await this.#deliver(queue, body);
    }
    queue.isSending = false;
  }

  async #deliver(queue: DeliveryQueue, body: string): Promise<void> {
    const { signal } = this.#closing;
    for (let attempt = 0; attempt < ATTEMPTS_MAX && this.#queues.has(queue.id); attempt += 1) {
      if (signal.aborted || (await this.#post(queue, body, queue.secret))) return;
      await delay(FIRST_RETRY_MS * 2 ** attempt, undefined, { signal }).catch(() => {});
    }
  }

  /** Posts the events. Returns whether the receiver accepted them. */
  async #post({ url }: DeliveryQueue, body: string, secret: string): Promise<boolean> {
    const seconds = Math.floor(this.#now().getTime() / 1_000);
    const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
    const headers = {
      'content-type': 'application/json',
      [SIGNATURE_HEADER]: `t=${seconds},v1=${digest}`,
    };
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
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

/** An event before a subscription's account is added. */
interface WebhookEvent {
  id: string;
  /** For example `contacts.updated`. */
  type: string;
  objectName: string;
  recordId: string;
  occurredAt: string;
  changedFields?: string[];
  /** The whole record, for creations only. After other events, the receiver reads the record. */
  record?: Record<string, unknown>;
  association?: { objectName: string; recordId: string };
  mergedId?: string;
}

/** Yields the event of a change, and an `associated` event for each changed reference to another record. */
function* createEvents(event: RecordEvent, newId: () => string): Generator<WebhookEvent> {
  const { type, definition, record, mergedId } = event;
  const changedFields = listChangedFields(event);
  const subject = { objectName: definition.name, recordId: record.id };
  const occurredAt = new Date(record.updatedAtMs).toISOString();
  yield {
    id: newId(),
    type: `${definition.name}.${type}`,
    ...subject,
    occurredAt,
    ...(type === 'updated' && { changedFields }),
    ...(type === 'created' && { record: createRecordView(definition)(record) }),
    ...(mergedId !== undefined && { mergedId }),
  };
  if (type !== 'created' && type !== 'updated') return;
  for (const { name, references } of definition.fields) {
    const recordId = record.values[name];
    if (references === undefined || recordId == null || !changedFields.includes(name)) continue;
    yield {
      id: newId(),
      type: `${definition.name}.associated`,
      ...subject,
      occurredAt,
      association: { objectName: references, recordId: String(recordId) },
    };
  }
}

function listChangedFields({ record, previous }: RecordEvent): string[] {
  return Object.keys(record.values).filter(
    (name) => JSON.stringify(record.values[name]) !== JSON.stringify(previous?.values[name]),
  );
}

const subscriptionSchema = z.strictObject({
  objectName: z.enum(OBJECT_NAMES),
  events: z.array(z.enum(RECORD_EVENTS)).min(1),
  url: z.url({ protocol: /^https?$/ }).max(2_048),
  secret: z.string().min(1).max(1_024),
  account: z.string().max(256).default(''),
});

export function createWebhookRoutes(webhooks: Webhooks): SandboxRoute[] {
  return [
    {
      method: 'GET',
      pattern: '/webhook-subscriptions',
      handle: () => ({
        status: 200,
        json: { subscriptions: webhooks.list().map(toSubscriptionView) },
      }),
    },
    {
      method: 'POST',
      pattern: '/webhook-subscriptions',
      handle(request) {
        const input = parseInput(subscriptionSchema, parseJsonBody(request));
        return { status: 201, json: toSubscriptionView(webhooks.create(input)) };
      },
    },
    {
      method: 'POST',
      pattern: '/webhook-subscriptions/:id/renew',
      handle: ({ params }) => ({
        status: 200,
        json: toSubscriptionView(webhooks.renew(params.id!)),
      }),
    },
    {
      method: 'DELETE',
      pattern: '/webhook-subscriptions/:id',
      handle({ params }) {
        webhooks.delete(params.id!);
        return { status: 204 };
      },
    },
  ];
}

/** Shows a subscription without its secret. */
function toSubscriptionView({
  id,
  objectName,
  events,
  url,
  account,
  expiresAtMs,
}: WebhookSubscription) {
  return { id, objectName, events, url, account, expiresAt: new Date(expiresAtMs).toISOString() };
}
