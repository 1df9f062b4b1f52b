/** Subscribes to a vendor's list of changes: reads its entries, and maintains the webhook that notifies of new ones. */
import { isObject } from '../../../work/is-object.ts';
import type { ProviderResponse, ProviderSession } from '../../contract.ts';
import { ProviderError } from '../../provider-error.ts';
import {
  type CreatedWebhook,
  type EntryPage,
  type ListPosition,
  PROVIDER_EVENT_KINDS,
  type ProviderEvent,
  type SubscribeCapability,
  type SubscriptionCalls,
} from '../../subscribing.ts';
import type { EventListDeclaration } from '../declaration/events-declaration.ts';
import { findValue, parseId } from '../json.ts';
import { ignoreMissing, requireValueAt, sendRequest } from '../send-request.ts';
import { fillJson, fillPath } from '../template.ts';
import { parseTime } from '../times.ts';
import type { Vendor } from '../vendor.ts';
import { isAuthentic } from './webhook-authentication.ts';

/** The number of a list's first entry. */
const FIRST_NUMBER = 1;

type EntriesDeclaration = EventListDeclaration['entries'];
type WebhookDeclaration = EventListDeclaration['webhook'];

const LIST_SUBSCRIPTION = { providerRef: 'list', expireTime: null };

/** The list covers all objects, so a subscription to one object needs no request. */
const LIST_SUBSCRIPTION_CALLS: SubscriptionCalls = {
  isShared: true,
  create: async () => LIST_SUBSCRIPTION,
  renew: async () => LIST_SUBSCRIPTION,
  delete: async () => {},
};

export function createListSubscribe(
  vendor: Vendor,
  { authentication, webhook, entries }: EventListDeclaration,
): SubscribeCapability {
  const listedKinds = Object.values(entries.changes);
  return {
    kinds: PROVIDER_EVENT_KINDS.filter((kind) => listedKinds.includes(kind)),
    // Each connection has its own list.
    findAccount: ({ id }) => id,
    calls: LIST_SUBSCRIPTION_CALLS,
    list: {
      isPing: (request, secret, now) =>
        isAuthentic(authentication, request, { secrets: [secret], now }),
      createWebhook: (session, url) => createWebhook(vendor, webhook, { session, url }),
      renewWebhook: (session, ref) => renewWebhook(vendor, webhook, { session, ref }),
      deleteWebhook: (session, ref) => deleteWebhook(vendor, webhook, { session, ref }),
      read: (session, listPosition) => readEntries(vendor, entries, { session, listPosition }),
    },
  };
}

async function readEntries(
  vendor: Vendor,
  entries: EntriesDeclaration,
  { session, listPosition }: { session: ProviderSession; listPosition: ListPosition },
): Promise<EntryPage> {
  const { startParameter, size } = entries;
  const { position, providerRef } = listPosition;
  const path = fillPath(entries.path, { webhookId: providerRef }, session);
  const query = {
    ...(position !== null && { [startParameter]: position }),
    [size.name]: String(size.max),
  };
  const response = await sendRequest(vendor, session, { method: 'GET', path, query });
  const nextNumber = findValue(response.body, entries.next);
  const items = findValue(response.body, entries.records);
  if (!Number.isSafeInteger(nextNumber) || !Array.isArray(items)) {
    throw createMalformedListError(response, 'the list of changes or the next position');
  }
  const firstNumber = Number(nextNumber) - items.length;
  const numberedEntries = items.map((entry: unknown, index) => {
    const time = parseTime(findValue(entry, entries.time.at), entries.time.format);
    if (!isObject(entry) || !time) throw createMalformedListError(response, 'the time of a change');
    return { entry, time, number: firstNumber + index };
  });
  const incompleteEntries = numberedEntries.filter(({ entry }, index) => {
    const isAfterDeletion = index === 0 && firstNumber > Number(position ?? FIRST_NUMBER);
    return isAfterDeletion || findValue(entry, entries.gapMarker) != null;
  });
  return {
    events: numberedEntries.flatMap((entry) => parseEvents(entries, entry, listPosition)),
    position: String(nextNumber),
    // A list whose position does not advance has no more entries, even if the vendor says so.
    hasMore: findValue(response.body, entries.hasMore) === true && String(nextNumber) !== position,
    lastTime: numberedEntries.at(-1)?.time ?? null,
    incompleteUntil: incompleteEntries.at(-1)?.time ?? null,
  };
}

function createMalformedListError({ status }: ProviderResponse, missing: string): ProviderError {
  return new ProviderError('DISCONNECTED', `The response lacks ${missing}`, { status });
}

interface NumberedEntry {
  entry: Record<string, unknown>;
  time: Date;
  number: number;
}

function parseEvents(
  { objects, changes }: EntriesDeclaration,
  { entry, time, number }: NumberedEntry,
  { account, providerRef }: ListPosition,
): ProviderEvent[] {
  const changesByObject = entry[objects];
  if (!isObject(changesByObject)) return [];
  return Object.entries(changesByObject).flatMap(([objectName, object]) =>
    Object.entries(changes).flatMap(([nativeType, kind]) =>
      listChangedRecords(isObject(object) ? object[nativeType] : null).map(
        ([recordId, change]) => ({
          // Stable, because an entry keeps its number.
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
        }),
      ),
    ),
  );
}

/** Returns the id of each changed record, and its part of the entry. */
function listChangedRecords(records: unknown): [id: string, change: unknown][] {
  if (isObject(records))
    return Object.entries(records).map(([id, change]) => [id, { [id]: change }]);
  const ids = Array.isArray(records) ? records.filter((id) => typeof id === 'string') : [];
  return ids.map((id) => [id, [id]]);
}

/**
 * Creates the webhook. First deletes webhooks with the same URL: they were created by requests whose responses were
 * lost, and the vendor permits few webhooks.
 */
async function createWebhook(
  vendor: Vendor,
  webhook: WebhookDeclaration,
  { session, url }: { session: ProviderSession; url: string },
): Promise<CreatedWebhook> {
  for (const { ref, url: listedUrl } of await listWebhooks(vendor, webhook, session)) {
    if (listedUrl === url) await deleteWebhook(vendor, webhook, { session, ref });
  }
  const path = fillPath(webhook.path, {}, session);
  const body = fillJson(webhook.body, { url });
  const response = await sendRequest(vendor, session, { method: 'POST', path, body });
  return {
    providerRef: requireValueAt(response, webhook.id, 'the id of the webhook'),
    secret: requireValueAt(response, webhook.secret, 'the secret of the webhook'),
  };
}

interface WebhookCall {
  session: ProviderSession;
  ref: string;
}

async function renewWebhook(
  vendor: Vendor,
  webhook: WebhookDeclaration,
  { session, ref }: WebhookCall,
): Promise<boolean> {
  const webhooks = await listWebhooks(vendor, webhook, session);
  const listedWebhook = webhooks.find((candidate) => candidate.ref === ref);
  if (!listedWebhook?.isActive) return false;
  const post = async ({ path, body }: WebhookDeclaration['renew']) => {
    const request = { method: 'POST', path: fillPath(path, { webhookId: ref }, session) } as const;
    await sendRequest(vendor, session, { ...request, ...(body && { body }) });
  };
  if (!listedWebhook.isNotifying) await post(webhook.resume);
  await post(webhook.renew);
  return true;
}

async function deleteWebhook(
  vendor: Vendor,
  { remove }: WebhookDeclaration,
  { session, ref }: WebhookCall,
): Promise<void> {
  const path = fillPath(remove.path, { webhookId: ref }, session);
  await ignoreMissing(sendRequest(vendor, session, { method: 'DELETE', path }));
}

async function listWebhooks(
  vendor: Vendor,
  { path, list: locations }: WebhookDeclaration,
  session: ProviderSession,
): Promise<{ ref: string; url: unknown; isActive: boolean; isNotifying: boolean }[]> {
  const request = { method: 'GET', path: fillPath(path, {}, session) } as const;
  const { body } = await sendRequest(vendor, session, request);
  const items = findValue(body, locations.records);
  return (Array.isArray(items) ? items : []).flatMap((item: unknown) => {
    const ref = parseId(findValue(item, locations.id));
    if (ref === null) return [];
    return {
      ref,
      url: findValue(item, locations.url),
      isActive: findValue(item, locations.isActive) === true,
      isNotifying: findValue(item, locations.isNotifying) === true,
    };
  });
}
