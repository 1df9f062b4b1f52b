/** Creates signed requests as the provider sends them, before the measurement begins. */
import { createHmac } from 'node:crypto';
import { SECRET, type Subscribed } from './subscribed.ts';

export const EVENTS_EACH = 10;

export interface SignedRequest {
  ids: string[];
  body: Buffer;
  headers: Record<string, string>;
}

let eventCount = 0;

/** Creates a request with new events. They are deletions, for which the gateway fetches no record. */
export function createSignedRequest({ account }: Subscribed): SignedRequest {
  const occurredAt = new Date().toISOString();
  const events = Array.from({ length: EVENTS_EACH }, () => {
    eventCount += 1;
    const subject = { type: 'contacts.deleted', account, objectName: 'contacts' };
    return { id: `event-${eventCount}`, recordId: `${eventCount}`, occurredAt, ...subject };
  });
  const body = Buffer.from(JSON.stringify({ events }));
  const seconds = Math.floor(Date.now() / 1_000);
  const digest = createHmac('sha256', SECRET).update(`${seconds}.`).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-sandbox-signature': `t=${seconds},v1=${digest}`,
  };
  return { ids: events.map(({ id }) => id), body, headers };
}
