/** What a vendor lists of its changes, and what tells that there are some, by its declaration. */
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

/** The entries of a list of changes: what each says, and whether some before it were forgotten. */

/** Of an entry, where none was read. */
const FIRST = 1;

type Entries = EventListDeclaration['entries'];

async function readEntries(
  vendor: Vendor,
  entries: Entries,
  { session, place }: { session: ProviderSession; place: ListPosition },
): Promise<ListPart> {
  const { from, size } = entries;
  const { position, providerRef } = place;
  const path = fillPath(entries.path, { ref: providerRef }, session);
  const query = { ...(position !== null && { [from]: position }), [size.name]: String(size.max) };
  const response = await sendRequest(vendor, session, { method: 'GET', path, query });
  const next = valueAt(response.body, entries.next);
  const all = valueAt(response.body, entries.records);
  if (!Number.isSafeInteger(next) || !Array.isArray(all)) {
    throw unansweredList(response, 'what has changed, and where it goes on');
  }
  const first = Number(next) - all.length;
  const read = all.map((entry: unknown, n) => {
    const time = readTime(valueAt(entry, entries.time.at), entries.time.format);
    if (!isObject(entry) || !time) throw unansweredList(response, 'when something has changed');
    return { entry, time, number: first + n };
  });
  const untold = read.filter(({ entry }, n) => {
    const isForgotten = n === 0 && first > Number(position ?? FIRST);
    return isForgotten || valueAt(entry, entries.untold) != null;
  });
  return {
    events: read.flatMap((one) => eventsIn(entries, one, place)),
    position: String(next),
    // One that stands still has no more, whatever it says.
    hasMore: valueAt(response.body, entries.hasMore) === true && String(next) !== position,
    lastTime: read.at(-1)?.time ?? null,
    incompleteUntil: untold.at(-1)?.time ?? null,
  };
}

function unansweredList({ status }: ProviderResponse, what: string): ProviderError {
  return new ProviderError('DISCONNECTED', `The answer does not say ${what}`, { status });
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
      recordsIn(isObject(object) ? object[nativeType] : null).map(([recordId, told]) => ({
        // An entry keeps its number: read again it is the same.
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
        raw: { ...entry, [objects]: { [objectName]: { [nativeType]: told } } },
      })),
    ),
  );
}

/** Each with what is told of it alone. */
function recordsIn(changed: unknown): [id: string, told: unknown][] {
  if (isObject(changed)) return Object.entries(changed).map(([id, told]) => [id, { [id]: told }]);
  const ids = Array.isArray(changed) ? changed.filter((id) => typeof id === 'string') : [];
  return ids.map((id) => [id, [id]]);
}

type Webhook = EventListDeclaration['webhook'];

export function subscribeByList(
  vendor: Vendor,
  { proof, webhook, entries }: EventListDeclaration,
): SubscribeCapability {
  const told = Object.values(entries.changes);
  return {
    kinds: PROVIDER_EVENT_KINDS.filter((kind) => told.includes(kind)),
    // Each connection has a list of its own.
    accountOf: ({ id }) => id,
    calls: IN_THE_LIST,
    list: {
      isPing: (request, secret, now) => isProvenBy(proof, request, { secrets: [secret], now }),
      setUp: (session, url) => setUp(vendor, webhook, { session, url }),
      renew: (session, ref) => renew(vendor, webhook, { session, ref }),
      takeDown: (session, ref) => takeDown(vendor, webhook, { session, ref }),
      read: (session, place) => readEntries(vendor, entries, { session, place }),
    },
  };
}

/** The list has all objects: nothing is asked for one of them. */
const IN_THE_LIST: SubscriptionCalls = {
  areShared: true,
  setUp: async () => IN_IT,
  renew: async () => IN_IT,
  takeDown: async () => {},
};
const IN_IT = { providerRef: 'list', expireTime: null };

/** Those that the vendor may have made before an answer was lost go first: it allows few. */
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
    providerRef: requiredAt(response, webhook.ref, 'which webhook was made'),
    secret: requiredAt(response, webhook.secret, 'what the webhook signs with'),
  };
}

interface One {
  session: ProviderSession;
  ref: string;
}

async function renew(vendor: Vendor, webhook: Webhook, { session, ref }: One): Promise<boolean> {
  const found = (await listed(vendor, webhook, session)).find((one) => one.ref === ref);
  if (!found?.isWorking) return false;
  const post = async ({ path, body }: Webhook['renew']) => {
    const request = { method: 'POST', path: fillPath(path, { ref }, session) } as const;
    await sendRequest(vendor, session, { ...request, ...(body && { body }) }, 'WRITE');
  };
  if (!found.isTelling) await post(webhook.resume);
  await post(webhook.renew);
  return true;
}

async function takeDown(vendor: Vendor, { remove }: Webhook, { session, ref }: One): Promise<void> {
  const path = fillPath(remove.path, { ref }, session);
  await unlessGone(sendRequest(vendor, session, { method: 'DELETE', path }, 'WRITE'));
}

async function listed(
  vendor: Vendor,
  { path, listed: places }: Webhook,
  session: ProviderSession,
): Promise<{ ref: string; at: unknown; isWorking: boolean; isTelling: boolean }[]> {
  const request = { method: 'GET', path: fillPath(path, {}, session) } as const;
  const { body } = await sendRequest(vendor, session, request);
  const all = valueAt(body, places.records);
  return (Array.isArray(all) ? all : []).flatMap((one: unknown) => {
    const ref = findId(valueAt(one, places.ref));
    if (ref === null) return [];
    return {
      ref,
      at: valueAt(one, places.url),
      isWorking: valueAt(one, places.isWorking) === true,
      isTelling: valueAt(one, places.isTelling) === true,
    };
  });
}
