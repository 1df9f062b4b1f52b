/**
 * Receives events from providers. A request is verified, parsed and stored before the response. An event is stored once
 * for each installation that needs it, however often the provider sends it.
 */

import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Database } from '../../../database/open/database.ts';
import { runInTransaction } from '../../../database/statements/hot/shared-statements.ts';
import {
  type EventsToStore,
  STORE_PROVIDER_EVENTS,
} from '../../../database/statements/hot/store-provider-events.ts';
import { withoutProject } from '../../../database/statements/projects/all-projects.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import type { Provider } from '../../../providers/contract.ts';
import {
  type AddressedSubscription,
  type EventList,
  type EventRequests,
  MalformedEventsError,
  type ProviderEvent,
  type WebhookContext,
  type WebhookRequest,
  type WebhookResponse,
} from '../../../providers/subscribing.ts';
import { isTooDeep } from '../../../work/bounded-parse.ts';
import { findJsonExcess } from '../../../work/json-size.ts';
import type { CoreServices, ProviderServices, RowServices, Services } from '../../access/call.ts';
import { findProviderOf } from '../../access/catalog.ts';
import { toStorableJson } from '../../base/storable-json.ts';
import { FULL_WAIT_SECONDS, isEventBacklogged } from './event-backlog.ts';
import { findListWebhook, scheduleListRead } from './stream/list-webhook.ts';
import { findAddressedSubscription } from './subscription-secret.ts';
import { listWebhookSecrets, type SealedApp, type Secrets } from './webhook-secret.ts';

/**
 * The outcome of a request:
 * - ACCEPTED: all events that installations need are stored.
 * - REFUSED: no secret of the app or of the addressed subscription signed the request, or its time is wrong.
 * - UNKNOWN_APP: the app does not exist. The sender gets the same response as for a wrong signature.
 * - MALFORMED: the request is signed but not in the provider's format, or its body has too many values.
 * - TOO_FAST: the app exceeds the rate of requests or bytes that a process accepts. The provider must retry.
 * - FULL: too many events of the app are waiting. The provider must retry.
 */
export type ReceiveOutcome =
  | 'ACCEPTED'
  | 'REFUSED'
  | 'UNKNOWN_APP'
  | 'MALFORMED'
  | 'TOO_FAST'
  | 'FULL';

interface ReceivedRequest {
  outcome: ReceiveOutcome;
  /** The response to an accepted request, if it is not an empty 204. */
  response?: WebhookResponse;
  /** The number of stored events, which were needed and new. */
  stored: number;
  /** The seconds after which the provider may retry, if it must. */
  waitSeconds?: number;
}

/** No provider has longer ids, and the database's index does not accept them. */
const NATIVE_ID_MAX = 512;
const EVENTS_MAX = 10_000;
/** The database can't read times outside of four-digit years, and no event has such a time. */
const EVENT_TIME_MIN = new Date(0);
const EVENT_TIME_END = new Date(Date.UTC(10_000, 0));

const APPS_CACHED = 10_000;
/** How long a rotated secret or a deleted app is still accepted. */
const APP_FRESH_MS = 2_000;
const appCachesByDatabase = new WeakMap<Database, LRUCache<string, { app: SealedApp | null }>>();

const SELECT_APP = withoutProject<SealedApp>(
  'the address of a request names the app alone',
  'select * from "ProviderApp" where "id" = $1',
);

/**
 * Stand-ins for the secrets of an app or a list that does not exist. The signature is verified with them, so that the
 * response time does not reveal what exists.
 */
const NO_SECRETS: Secrets = ['no app with this secret'];
const NO_PING_SECRET = Buffer.alloc(32).toString('base64');

/** The provider and the app that the path of a request names. */
interface WebhookAddress {
  provider: string;
  providerAppId: string;
}

/** True if the provider refuses responses with a body. */
export async function requiresEmptyResponses(
  services: ProviderServices,
  address: WebhookAddress,
): Promise<boolean> {
  const provider = await findAddressedProvider(services, address, await findApp(services, address));
  return provider?.capabilities.subscribe?.requests?.requiresEmptyResponses ?? false;
}

/** Finds the provider of the app. If there is no such app, finds only a provider that every project has. */
async function findAddressedProvider(
  services: ProviderServices,
  { provider }: WebhookAddress,
  app: SealedApp | null,
): Promise<Provider | null> {
  return app ? findProviderOf(services, app) : services.catalogs.builtIn.find(provider);
}

export async function receiveEvents(
  services: Services,
  address: WebhookAddress,
  request: WebhookRequest,
): Promise<ReceivedRequest> {
  const app = await findApp(services, address);
  const provider = await findAddressedProvider(services, address, app);
  const { requests, list } = provider?.capabilities.subscribe ?? {};
  if (list) return receivePing(services, list, { app, request });
  if (!requests) return createOutcome('UNKNOWN_APP');
  // Must precede the handshake, which parses the body of an unsigned request.
  if (findJsonExcess(request.body.toString('utf8'))) return createOutcome('MALFORMED');
  const handshakeResponse = requests.respondToHandshake?.(request);
  if (handshakeResponse) return { ...createOutcome('ACCEPTED'), response: handshakeResponse };
  const signers = await findSigners(services, requests, { app, request });
  const secrets = signers?.secrets ?? NO_SECRETS;
  const context = { now: services.now(), subscription: signers?.subscription ?? null };
  const isSigned = requests.isSigned(request, secrets, context.now);
  if (!app) return createOutcome('UNKNOWN_APP');
  if (!signers || !isSigned) return createOutcome('REFUSED');
  const waitSeconds = services.eventRates.take(app.id, request.body.length);
  if (waitSeconds > 0) return { ...createOutcome('TOO_FAST'), waitSeconds };
  const events = readEvents(requests, request, context);
  if (events === null) return createOutcome('MALFORMED');
  const owner = { projectId: app.projectId, providerAppId: app.id };
  if (events.length > 0 && (await isEventBacklogged(services, owner))) {
    return { ...createOutcome('FULL'), waitSeconds: FULL_WAIT_SECONDS };
  }
  const storedCount =
    events.length === 0 ? 0 : await storeInOwnTransaction(services, owner, events);
  const response = requests.respond?.(request, secrets, context.now);
  return { ...createOutcome('ACCEPTED', storedCount), ...(response && { response }) };
}

/** Schedules a read of the list that the request reports as changed. */
async function receivePing(
  services: Services,
  list: EventList,
  { app, request }: { app: SealedApp | null; request: WebhookRequest },
): Promise<ReceivedRequest> {
  const webhook = await findListWebhook(services, app, request);
  const isPing = list.isPing(request, webhook?.secret ?? NO_PING_SECRET, services.now());
  if (!app) return createOutcome('UNKNOWN_APP');
  if (!webhook || !isPing) return createOutcome('REFUSED');
  const waitSeconds = services.eventRates.take(app.id, request.body.length);
  if (waitSeconds > 0) return { ...createOutcome('TOO_FAST'), waitSeconds };
  await scheduleListRead(services, webhook.key);
  return createOutcome('ACCEPTED');
}

interface Signers {
  secrets: Secrets;
  subscription: AddressedSubscription | null;
}

/** Finds the secrets that may have signed the request. Null if the app or the subscription does not exist. */
async function findSigners(
  services: CoreServices,
  { hasOwnSecrets }: EventRequests,
  { app, request }: { app: SealedApp | null; request: WebhookRequest },
): Promise<Signers | null> {
  if (hasOwnSecrets) return findAddressedSubscription(services, app, request);
  return app && { secrets: listWebhookSecrets(services, app), subscription: null };
}

function createOutcome(outcome: ReceiveOutcome, stored = 0): ReceivedRequest {
  return { outcome, stored };
}

/** Parses a request. Null if it is not in the provider's format. */
function readEvents(
  requests: EventRequests,
  request: WebhookRequest,
  context: WebhookContext,
): ProviderEvent[] | null {
  try {
    const events = requests.parseEvents(request, context);
    const isValid = ({ nativeId, time, raw, record }: ProviderEvent) =>
      nativeId.length <= NATIVE_ID_MAX &&
      time >= EVENT_TIME_MIN &&
      time < EVENT_TIME_END &&
      !isTooDeep([raw, record]);
    return events.length <= EVENTS_MAX && events.every(isValid) ? events : null;
  } catch (error) {
    // Code that recurses into a value of thousands of levels throws a RangeError.
    if (error instanceof MalformedEventsError || error instanceof RangeError) return null;
    throw error;
  }
}

async function findApp(
  { database }: RowServices,
  { provider, providerAppId: id }: WebhookAddress,
): Promise<SealedApp | null> {
  const cache =
    appCachesByDatabase.get(database) ?? new LRUCache({ max: APPS_CACHED, ttl: APP_FRESH_MS });
  appCachesByDatabase.set(database, cache);
  let entry = cache.get(id);
  if (!entry) {
    const [app = null] = await database.run(SELECT_APP, [id]);
    entry = { app };
    cache.set(id, entry);
  }
  return entry.app?.provider === provider ? entry.app : null;
}

type Owner = Pick<EventsToStore, 'projectId' | 'providerAppId'>;

/** Stores events in a separate transaction. Returns the number of new rows. */
export async function storeInOwnTransaction(
  { database }: Pick<Services, 'database'>,
  owner: Owner,
  events: ProviderEvent[],
): Promise<number> {
  const row = await database.runShared(STORE_PROVIDER_EVENTS, createEventsToStore(owner, events));
  return row?.stored ?? 0;
}

/** Stores events within a transaction. Returns the number of new rows. */
export async function storeInTransaction(
  tx: Transaction,
  owner: Owner,
  events: ProviderEvent[],
): Promise<number> {
  const eventsToStore = createEventsToStore(owner, events);
  const [row] = await runInTransaction(tx, STORE_PROVIDER_EVENTS, [eventsToStore]);
  return row?.stored ?? 0;
}

function createEventsToStore(owner: Owner, events: ProviderEvent[]): EventsToStore {
  const rows = toStorableJson(events).map(({ record, association, raw, time, ...event }) => ({
    ...event,
    eventTime: time,
    content: { record, association, raw },
  }));
  return { id: randomUUID(), ...owner, events: rows };
}
