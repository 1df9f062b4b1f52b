/**
 * Reads a connection's list of changes when the provider notifies the gateway, and at regular intervals. One worker at
 * a time reads the list, and stores each page together with the position after it.
 */

import { RELEASED_LEASE, requireLease } from '../../../../database/leases/lease.ts';
import { inTransaction } from '../../../../database/transactions/transaction.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import type {
  EntryPage,
  EventList,
  SubscribeCapability,
} from '../../../../providers/subscribing.ts';
import { HOUR_MS } from '../../../../work/durations.ts';
import type {
  CoreServices,
  ProviderServices,
  RowServices,
  Services,
} from '../../../access/call.ts';
import { waitForCapacity } from '../event-backlog.ts';
import { getSubscriptionParties } from '../subscription-parties.ts';
import { addIdToAddress } from '../subscription-secret.ts';
import { toWebhookUrl } from '../webhook-secret.ts';
import type { FollowedList, ProviderStream } from './followed-account.ts';
import { replaceListWebhook } from './list-webhook.ts';
import { getPeriodStart } from './missed-record-changes.ts';
import {
  PROVIDER_STREAM_LEASES,
  recordLostPosition,
  recordProviderStreamOpen,
  storeBatch,
} from './provider-stream-state.ts';

/**
 * The interval between reads without a notification. If notifications are lost, changes are delayed by up to this time.
 */
const POLL_MS = HOUR_MS;

interface ListRead {
  stream: ProviderStream;
  capability: SubscribeCapability;
  list: EventList;
  signal: AbortSignal;
}

/** Reads the list to its end and releases the lease. Throws LeaseLost, UNPROCESSABLE or ProviderError. */
export async function readList(services: ProviderServices, listRead: ListRead): Promise<void> {
  const { stream, signal } = listRead;
  const source = await loadFollowedList(services, listRead);
  const accessError = await tryReadAll(services, source, signal);
  const isCheckNeeded = accessError !== null || isCheckDue(services, source);
  if (isCheckNeeded && !signal.aborted) {
    if (!(await renewNotifications(services, source))) {
      await createNotifications(services, source);
      await readAll(services, source, signal);
    } else if (accessError) throw accessError;
  }
  await releaseList(services, stream, signal);
}

async function loadFollowedList(
  services: ProviderServices,
  { stream, capability, list }: ListRead,
): Promise<FollowedList> {
  const { projectId, connectionId: id } = stream;
  const { session, app, account } = await getSubscriptionParties(services, stream, capability);
  const where = { projectId_id: { projectId, id } };
  const webhook = await services.database.prisma.listWebhook.findUnique({ where });
  const address = addIdToAddress(toWebhookUrl(services, app), id);
  return { stream, session, account, listDeletions: null, appIds: [], list, address, webhook };
}

/** Reads the list. Returns the provider's error if the list no longer exists or is no longer accessible. */
async function tryReadAll(
  services: ProviderServices,
  source: FollowedList,
  signal: AbortSignal,
): Promise<ProviderError | null> {
  try {
    await readAll(services, source, signal);
    return null;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.kind !== 'MISSING_OBJECT' && error.kind !== 'FORBIDDEN') throw error;
    return error;
  }
}

async function readAll(
  services: ProviderServices,
  source: FollowedList,
  signal: AbortSignal,
): Promise<void> {
  const { stream, webhook } = source;
  if (!webhook) return;
  let hasMore = true;
  while (hasMore && !signal.aborted) {
    const page = await readPage(services, source, webhook.providerRef);
    if (stream.status !== 'ACTIVE' || stream.position === null || stream.failures > 0) {
      await recordProviderStreamOpen(services, source);
      stream.status = 'ACTIVE';
    }
    const { readUntil } = stream;
    const { incompleteUntil: until } = page;
    const gaps =
      readUntil && until ? [{ objectName: null, since: getPeriodStart(readUntil), until }] : [];
    // A page without a time may be the end of the list, so it does not advance `readUntil`.
    const lastTime = page.lastTime ?? readUntil;
    await storeBatch(services, source, { ...page, lastTime, gaps });
    hasMore = page.hasMore;
    if (hasMore) await waitForCapacity(services, source, signal);
  }
}

async function readPage(
  services: CoreServices,
  source: FollowedList,
  providerRef: string,
): Promise<EntryPage> {
  const { list, session, account, stream } = source;
  const read = () => list.read(session, { account, providerRef, position: stream.position });
  try {
    return await read();
  } catch (error) {
    const isGone = error instanceof ProviderError && error.kind === 'CURSOR_GONE';
    if (!isGone || stream.position === null) throw error;
    await recordLostPosition(services, source);
    return read();
  }
}

function isCheckDue({ now }: Pick<Services, 'now'>, { webhook, address }: FollowedList): boolean {
  return !webhook || webhook.address !== address || webhook.checkTime <= now();
}

/** Returns false if the provider sends no notifications, or sends them to another address. */
async function renewNotifications(services: RowServices, source: FollowedList): Promise<boolean> {
  const { stream, list, session, webhook, address } = source;
  if (!webhook || webhook.address !== address) return false;
  if (!(await list.renewWebhook(session, webhook.providerRef))) return false;
  const { projectId, connectionId: id } = stream;
  const where = { projectId, id, providerRef: webhook.providerRef };
  const data = { checkTime: computeNextPollTime(services) };
  await services.database.prisma.listWebhook.updateMany({ where, data });
  return true;
}

/**
 * Subscribes to notifications of the list and resets its position. Throws LeaseLost if the claim no longer holds the
 * stream.
 */
async function createNotifications(services: CoreServices, source: FollowedList): Promise<void> {
  const { stream, list, session, address, webhook: previousWebhook } = source;
  const created = await list.createWebhook(session, address);
  const initialState = { position: null, failures: 0 };
  source.webhook = await inTransaction(services.database, async (tx) => {
    await PROVIDER_STREAM_LEASES.updateClaimed(tx.providerStream, stream, initialState);
    return replaceListWebhook(services, tx, stream, {
      ...created,
      address,
      checkTime: computeNextPollTime(services),
    });
  });
  Object.assign(stream, initialState);
  if (previousWebhook === null || previousWebhook.providerRef === created.providerRef) return;
  await list.deleteWebhook(session, previousWebhook.providerRef).catch((error: unknown) => {
    const { connectionId } = stream;
    const fields = { err: error, connectionId, providerRef: previousWebhook.providerRef };
    services.log.warn(fields, 'provider_subscription.not_removed');
  });
}

function computeNextPollTime({ now }: Pick<Services, 'now'>): Date {
  return new Date(now().getTime() + POLL_MS);
}

/**
 * Releases the lease. A notification that arrived during the read makes the list due immediately. Throws LeaseLost if
 * the claim no longer holds the stream.
 */
async function releaseList(
  services: RowServices,
  stream: ProviderStream,
  signal: AbortSignal,
): Promise<void> {
  const { providerStream } = services.database.prisma;
  if (!signal.aborted) {
    const where = { ...PROVIDER_STREAM_LEASES.getClaimFilter(stream), dueTime: stream.dueTime };
    const data = { dueTime: computeNextPollTime(services), ...RELEASED_LEASE };
    const { count } = await providerStream.updateMany({ where, data });
    if (count > 0) return;
  }
  const { count } = await providerStream.updateMany({
    where: PROVIDER_STREAM_LEASES.getClaimFilter(stream),
    data: RELEASED_LEASE,
  });
  requireLease(count);
}
