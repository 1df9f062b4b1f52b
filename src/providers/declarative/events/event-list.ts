/** Subscribes to a vendor's list of changes: reads its entries, and maintains the webhook that notifies of new ones. */
import type { ProviderResponse, ProviderSession } from '../../contract.ts';
import { ProviderError } from '../../provider-error.ts';
import {
  type CreatedPing,
  type ListPart,
  type ListPosition,
  PROVIDER_EVENT_KINDS,
  type ProviderEvent,
  type SubscribeCapability,
  type SubscriptionCalls,
} from '../../subscribing.ts';
import type { EventListDeclaration } from '../declaration/event-list-declaration.ts';
import type { Vendor } from '../failure.ts';
import { findId, isObject, valueAt } from '../json.ts';
import { sendRequest } from '../send-request.ts';
import { fillJson, fillPath } from '../template.ts';
import { readTime } from '../times.ts';
import { isProvenBy } from './proof.ts';
import { requiredAt, unlessGone } from './subscription-calls.ts';

/** The number of the first entry of a list. */
const FIRST = 1;

type Entries = EventListDeclaration['entries'];

async function readEntries(
  vendor: Vendor,
  entries: Entries,
  { session, listPosition }: { session: ProviderSession; listPosition: ListPosition },
): Promise<ListPart> {
  const { from, size } = entries;
  const { position, providerRef } = listPosition;
  const path = fillPath(entries.path, { ref: providerRef }, session);
  const query = { ...(position !== null && { [from]: position }), [size.name]: String(size.max) };
  const response = await sendRequest(vendor, session, { method: 'GET', path, query });
  const next = valueAt(response.body, entries.next);
  const all = valueAt(response.body, entries.records);
  if (!Number.isSafeInteger(next) || !Array.isArray(all)) {
    throw malformedList(response, 'the list of changes or the next position');
  }
  const first = Number(next) - all.length;
  const read = all.map((entry: unknown, n) => {
    const time = readTime(valueAt(entry, entries.time.at), entries.time.format);
    if (!isObject(entry) || !time) throw malformedList(response, 'the time of a change');
    return { entry, time, number: first + n };
  });
  const incomplete = read.filter(({ entry }, n) => {
    const isForgotten = n === 0 && first > Number(position ?? FIRST);
    return isForgotten || valueAt(entry, entries.incomplete) != null;
  });
  return {
    events: read.flatMap((one) => eventsIn(entries, one, listPosition)),
    position: String(next),
    // A list whose position does not advance has no more entries, even if the vendor says so.
    hasMore: valueAt(response.body, entries.hasMore) === true && String(next) !== position,
    lastTime: read.at(-1)?.time ?? null,
    incompleteUntil: incomplete.at(-1)?.time ?? null,
  };
}

function malformedList({ status }: ProviderResponse, what: string): ProviderError {
  return new ProviderError('DISCONNECTED', `The response lacks ${what}`, { status });
}

interface Entry {
  entry: Record<string, unknown>;
  time: Date;
  number: number;
}

function eventsIn(
  { objects, changes }: Entries,
  { entry, time, number }: Entry,
  { account, providerRef }: ListPosition,
): ProviderEvent[] {
  const named = entry[objects];
  if (!isObject(named)) return [];
  return Object.entries(named).flatMap(([objectName, object]) =>
    Object.entries(changes).flatMap(([nativeType, kind]) =>
      recordsIn(isObject(object) ? object[nativeType] : null).map(([recordId, change]) => ({
        // The id is stable: an entry keeps its number when it is read again.
        nativeId: [providerRef, number, kind, recordId].join('.'),
        account,
        objectName,
        recordId,
        kind,
        nativeType,
        time,
        changedFields: [],
        record: null,
        association: null,
        raw: { ...entry, [objects]: { [objectName]: { [nativeType]: change } } },
      })),
    ),
  );
}

/** Returns the changed record ids, each with its own part of the entry. */
function recordsIn(changed: unknown): [id: string, change: unknown][] {
  if (isObject(changed))
    return Object.entries(changed).map(([id, change]) => [id, { [id]: change }]);
  const ids = Array.isArray(changed) ? changed.filter((id) => typeof id === 'string') : [];
  return ids.map((id) => [id, [id]]);
}

type Webhook = EventListDeclaration['webhook'];

export function subscribeByList(
  vendor: Vendor,
  { proof, webhook, entries }: EventListDeclaration,
): SubscribeCapability {
  const listedKinds = Object.values(entries.changes);
  return {
    kinds: PROVIDER_EVENT_KINDS.filter((kind) => listedKinds.includes(kind)),
    // Each connection has its own list.
    accountOf: ({ id }) => id,
    calls: NO_CALLS,
    list: {
      isPing: (request, secret, now) => isProvenBy(proof, request, { secrets: [secret], now }),
      setUp: (session, url) => setUp(vendor, webhook, { session, url }),
      renew: (session, ref) => renew(vendor, webhook, { session, ref }),
      takeDown: (session, ref) => takeDown(vendor, webhook, { session, ref }),
      read: (session, listPosition) => readEntries(vendor, entries, { session, listPosition }),
    },
  };
}

/** The list covers all objects, so a subscription to one object needs no request. */
const NO_CALLS: SubscriptionCalls = {
  areShared: true,
  setUp: async () => WHOLE_LIST,
  renew: async () => WHOLE_LIST,
  takeDown: async () => {},
};
const WHOLE_LIST = { providerRef: 'list', expireTime: null };

/**
 * Creates the webhook. First deletes webhooks with the same URL, left from lost responses, because the vendor permits
 * few.
 */
async function setUp(
  vendor: Vendor,
  webhook: Webhook,
  { session, url }: { session: ProviderSession; url: string },
): Promise<CreatedPing> {
  for (const { ref, at } of await listed(vendor, webhook, session)) {
    if (at === url) await takeDown(vendor, webhook, { session, ref });
  }
  const path = fillPath(webhook.path, {}, session);
  const body = fillJson(webhook.body, { url });
  const response = await sendRequest(vendor, session, { method: 'POST', path, body }, 'WRITE');
  return {
    providerRef: requiredAt(response, webhook.ref, 'the id of the webhook'),
    secret: requiredAt(response, webhook.secret, 'the secret of the webhook'),
  };
}

interface WebhookRef {
  session: ProviderSession;
  ref: string;
}

async function renew(
  vendor: Vendor,
  webhook: Webhook,
  { session, ref }: WebhookRef,
): Promise<boolean> {
  const found = (await listed(vendor, webhook, session)).find((one) => one.ref === ref);
  if (!found?.isWorking) return false;
  const post = async ({ path, body }: Webhook['renew']) => {
    const request = { method: 'POST', path: fillPath(path, { ref }, session) } as const;
    await sendRequest(vendor, session, { ...request, ...(body && { body }) }, 'WRITE');
  };
  if (!found.isNotifying) await post(webhook.resume);
  await post(webhook.renew);
  return true;
}

async function takeDown(
  vendor: Vendor,
  { remove }: Webhook,
  { session, ref }: WebhookRef,
): Promise<void> {
  const path = fillPath(remove.path, { ref }, session);
  await unlessGone(sendRequest(vendor, session, { method: 'DELETE', path }, 'WRITE'));
}

async function listed(
  vendor: Vendor,
  { path, listed: locations }: Webhook,
  session: ProviderSession,
): Promise<{ ref: string; at: unknown; isWorking: boolean; isNotifying: boolean }[]> {
  const request = { method: 'GET', path: fillPath(path, {}, session) } as const;
  const { body } = await sendRequest(vendor, session, request);
  const all = valueAt(body, locations.records);
  return (Array.isArray(all) ? all : []).flatMap((one: unknown) => {
    const ref = findId(valueAt(one, locations.ref));
    if (ref === null) return [];
    return {
      ref,
      at: valueAt(one, locations.url),
      isWorking: valueAt(one, locations.isWorking) === true,
      isNotifying: valueAt(one, locations.isNotifying) === true,
    };
  });
}
