/**
 * Takes what providers send: checked, read and stored before it is answered. An event is stored once for each
 * installation that wants it, however often it is sent.
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../database/database.ts';
import { withoutProject } from '../../database/projects/all-projects.ts';
import {
  type AddressedSubscription,
  type Arrival,
  type EventRequests,
  MalformedEvents,
  type ProviderEvent,
  type WebhookRequest,
  type WebhookResponse,
} from '../../providers/subscribing.ts';
import type { Services } from '../call.ts';
import { FULL_WAIT_SECONDS, isEventBacklogged } from './event-backlog.ts';
import { receivePing } from './receive-ping.ts';
import { storeAlone } from './store-events.ts';
import { findAddressed } from './subscription-secret.ts';
import { type SealedApp, webhookSecretsOf } from './webhook-secret.ts';

export type { WebhookResponse };

/**
 * - ACCEPTED: all that somebody wants is stored.
 * - REFUSED: not signed by a secret of the app or of the subscription that the address names, or not now.
 * - UNKNOWN_APP: there is no such app; the sender is told the same as of a wrong signature.
 * - MALFORMED: signed, and not what the provider sends.
 * - TOO_FAST: more requests or bytes of the app than a process takes; the provider is to send it again.
 * - FULL: too much of the app waits already; the provider is to send it again.
 */
export type Receipt = 'ACCEPTED' | 'REFUSED' | 'UNKNOWN_APP' | 'MALFORMED' | 'TOO_FAST' | 'FULL';

export interface Received {
  receipt: Receipt;
  /** Of one that is accepted, if it is more than 204. */
  response?: WebhookResponse;
  /** Events that were stored: wanted, and new. */
  stored: number;
  /** Of one that is to be sent again: when it may be taken. */
  waitSeconds?: number;
}

/** Providers' ids of events are shorter; the database's index takes no more. */
const NATIVE_ID_MAX = 512;
const EVENTS_MAX = 10_000;
/** Times outside of four-digit years are no times of events, and the database can't read them. */
const FIRST_TIME = new Date(0);
const TIMES_END = new Date(Date.UTC(10_000, 0));

export async function receiveEvents(
  services: Services,
  to: { provider: string; providerAppId: string },
  request: WebhookRequest,
): Promise<Received> {
  const { requests, list } = services.catalogue.find(to.provider)?.capabilities.subscribe ?? {};
  if (list) return receivePing(services, list, { app: await findApp(services, to), request });
  if (!requests) return outcome('UNKNOWN_APP');
  const greeting = requests.greet?.(request);
  if (greeting) return { ...outcome('ACCEPTED'), response: greeting };
  const app = await findApp(services, to);
  const signers = await signersOf(services, requests, { app, request });
  // Without an app the same work is done, so that its time doesn't tell.
  const secrets = signers?.secrets ?? [NO_SECRET];
  const arrival = { now: services.now(), subscription: signers?.subscription ?? null };
  const isSigned = requests.isSigned(request, secrets, arrival.now);
  if (!app) return outcome('UNKNOWN_APP');
  if (!signers || !isSigned) return outcome('REFUSED');
  const waitSeconds = services.eventRates.take(app.id, request.body.length);
  if (waitSeconds > 0) return { ...outcome('TOO_FAST'), waitSeconds };
  const events = readEvents(requests, request, arrival);
  if (events === null) return outcome('MALFORMED');
  const owner = { projectId: app.projectId, providerAppId: app.id };
  if (events.length > 0 && (await isEventBacklogged(services, owner))) {
    return { ...outcome('FULL'), waitSeconds: FULL_WAIT_SECONDS };
  }
  const stored = events.length === 0 ? 0 : await storeAlone(services, owner, events);
  const [secret = ''] = secrets;
  const response = requests.respond?.(request, secret);
  return { ...outcome('ACCEPTED', stored), ...(response && { response }) };
}

interface Signers {
  secrets: readonly string[];
  subscription: AddressedSubscription | null;
}

/** What may have signed the request; null if there is no such app or subscription. */
async function signersOf(
  services: Services,
  { hasOwnSecrets }: EventRequests,
  { app, request }: { app: SealedApp | null; request: WebhookRequest },
): Promise<Signers | null> {
  if (hasOwnSecrets) return findAddressed(services, app, request);
  return app && { secrets: webhookSecretsOf(services, app), subscription: null };
}

const NO_SECRET = 'no secret of any app';

function outcome(receipt: Receipt, stored = 0): Received {
  return { receipt, stored };
}

/** Null if they are not what the provider sends. */
function readEvents(
  requests: EventRequests,
  request: WebhookRequest,
  arrival: Arrival,
): ProviderEvent[] | null {
  try {
    const events = requests.eventsOf(request, arrival);
    const isSound = ({ nativeId, time }: ProviderEvent) =>
      nativeId.length <= NATIVE_ID_MAX && time >= FIRST_TIME && time < TIMES_END;
    return events.length <= EVENTS_MAX && events.every(isSound) ? events : null;
  } catch (error) {
    if (error instanceof MalformedEvents) return null;
    throw error;
  }
}

const APPS_KNOWN = 10_000;
/** A secret that was rotated, and an app that was deleted, count so long. */
const APP_FRESH_MS = 2_000;
const APPS = new WeakMap<Database, LRUCache<string, { app: SealedApp | null }>>();

const APP_OF_REQUEST = withoutProject(
  'the address of a request names the app alone',
  'select * from "ProviderApp" where "id" = $1',
);

async function findApp(
  { database }: Services,
  { provider, providerAppId: id }: { provider: string; providerAppId: string },
): Promise<SealedApp | null> {
  const apps = APPS.get(database) ?? new LRUCache({ max: APPS_KNOWN, ttl: APP_FRESH_MS });
  APPS.set(database, apps);
  let known = apps.get(id);
  if (!known) {
    const [app = null] = await database.rows.query<SealedApp>(APP_OF_REQUEST, [id]);
    known = { app };
    apps.set(id, known);
  }
  return known.app?.provider === provider ? known.app : null;
}
