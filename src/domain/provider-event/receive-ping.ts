/** Receives a notification that a connection's list has changed, and schedules a read of the list. */
import type { EventList, WebhookRequest } from '../../providers/subscribing.ts';
import type { Services } from '../call.ts';
import type { Received } from './receive-events.ts';
import { findPing, scheduleListRead } from './stream/stream-ping.ts';
import type { SealedApp } from './webhook-secret.ts';

export async function receivePing(
  services: Services,
  list: EventList,
  { app, request }: { app: SealedApp | null; request: WebhookRequest },
): Promise<Received> {
  const ping = await findPing(services, app, request);
  // Without a ping the same work is done, so that the response time does not reveal that it is missing.
  const isPing = list.isPing(request, ping?.secret ?? NO_SECRET, services.now());
  if (!app) return { receipt: 'UNKNOWN_APP', stored: 0 };
  if (!ping || !isPing) return { receipt: 'REFUSED', stored: 0 };
  const waitSeconds = services.eventRates.take(app.id, request.body.length);
  if (waitSeconds > 0) return { receipt: 'TOO_FAST', stored: 0, waitSeconds };
  await scheduleListRead(services, ping.key);
  return { receipt: 'ACCEPTED', stored: 0 };
}

const NO_SECRET = Buffer.alloc(32).toString('base64');
