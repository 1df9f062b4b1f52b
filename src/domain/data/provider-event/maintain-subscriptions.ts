/**
 * Creates, renews and removes subscriptions at providers, so that each installation receives the events that it needs.
 * Repeating the work is safe: the events of a duplicate subscription are stored once.
 */

import { hash } from 'node:crypto';
import { LEASE, LeaseLost, RELEASED_LEASE, requireLease } from '../../../database/leases/lease.ts';
import { LeasedRows } from '../../../database/leases/leased-rows.ts';
import { SUBSCRIPTIONS_CHANNEL } from '../../../database/transactions/notification-channels.ts';
import { inTransaction, type Transaction } from '../../../database/transactions/transaction.ts';
import { leasedWork } from '../../../jobs/leased-work.ts';
import { newId } from '../../../kernel/ids.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import type { DesiredSubscription, SubscribeCapability } from '../../../providers/subscribing.ts';
import { scheduleRetry } from '../../../work/backoff.ts';
import { DAY_MS, HOUR_MS } from '../../../work/durations.ts';
import type { CoreServices, ProviderServices, Services } from '../../access/call.ts';
import { findProviderOf } from '../../access/catalog.ts';
import { toTextColumn } from '../../base/stored-text.ts';
import type { AccountProviderSession } from '../../connections/connection/connection-session.ts';
import { OperationRequests } from '../../connections/diagnosis/operation-requests.ts';
import { logWorkFailure } from '../../connections/provider/work-failure.ts';
import { type ObjectSubscription, recordSubscribeError } from './object-subscription.ts';
import {
  isUsedByOthers,
  removeAtProvider,
  removeEvents,
  removeSubscription,
} from './remove-subscription.ts';
import { deleteListWebhook } from './stream/list-webhook.ts';
import { joinProviderStream } from './stream/provider-stream-state.ts';
import { logSubscribe } from './subscribe-log.ts';
import { getSubscriptionParties, type SubscriptionParties } from './subscription-parties.ts';
import { addIdToAddress, deleteExpiredSecrets, replaceSecrets } from './subscription-secret.ts';
import { listWebhookSecrets, toWebhookUrl } from './webhook-secret.ts';

const RETRY = { firstMs: 5_000, maxMs: HOUR_MS, jitter: 0.5 };
/** The retry interval for errors that a user must fix. */
const ONCE_A_DAY = { firstMs: DAY_MS, maxMs: DAY_MS };
/** After this many failed removals, the subscription stays at the provider and its events are refused. */
const UNSUBSCRIBE_TRIES_MAX = 8;

const KEY_COLUMNS = ['projectId', 'installationId', 'objectName'] as const;

/** The lease of a worker that maintains a subscription. */
export const SUBSCRIPTION_LEASES = new LeasedRows({
  table: 'ObjectSubscription',
  key: KEY_COLUMNS,
  leaseMs: 30_000,
  columns: LEASE,
});

/** Subscriptions that are due to be created, renewed or removed at their providers. */
export const subscriptions = leasedWork({
  kind: 'subscription',
  leases: SUBSCRIPTION_LEASES,
  columns: [...KEY_COLUMNS, 'leaseToken'],
  perProcess: 8,
  channel: SUBSCRIPTIONS_CHANNEL,
  run: maintainSubscription,
});

type SubscriptionClaim = Pick<ObjectSubscription, (typeof KEY_COLUMNS)[number] | 'leaseToken'>;

async function maintainSubscription(
  services: ProviderServices,
  claim: SubscriptionClaim,
): Promise<void> {
  const where = SUBSCRIPTION_LEASES.getClaimFilter(claim);
  const subscription = await services.database.prisma.objectSubscription.findFirst({ where });
  if (subscription?.isWanted) await subscribe(services, subscription);
  else if (subscription) await unsubscribe(services, subscription);
}

async function subscribe(
  baseServices: ProviderServices,
  subscription: ObjectSubscription,
): Promise<void> {
  using requests = new OperationRequests(baseServices, { operationId: null });
  const { services } = requests;
  const provider = await findProviderOf(services, subscription);
  const capability = provider?.capabilities.subscribe;
  // The error of an unsupported subscription was reported when the subscription was stored.
  if (!capability || subscription.status === 'UNSUPPORTED') {
    return updateClaimedSubscription(services, subscription, { dueTime: null });
  }
  try {
    await updateAtProvider(requests, subscription, capability);
  } catch (error) {
    await recordFailure(requests, subscription, error);
  }
}

/** Renews the subscription, or replaces it if it has changed or the provider has lost it. */
async function updateAtProvider(
  requests: OperationRequests,
  subscription: ObjectSubscription,
  capability: SubscribeCapability,
): Promise<void> {
  const { services } = requests;
  const { calls } = capability;
  const parties = await getSubscriptionParties(services, subscription, capability);
  const { app, account, session } = parties;
  const eventParties = { providerAppId: app.id, account };
  if (!calls) {
    // A user creates the subscription manually at the provider. Its first event shows that it works.
    const status = subscription.eventCount > 0 ? 'ACTIVE' : 'PENDING';
    const dueTime = computeMaintenanceTime(services, null);
    const change = { ...eventParties, status, error: null, failures: 0, dueTime } as const;
    return updateClaimedSubscription(services, subscription, change);
  }
  const desired = createDesiredSubscription(services, subscription, parties);
  session.addSecrets([desired.secret]);
  const appliedSettings = hashDesired(desired);
  const currentRef =
    subscription.appliedSettings === appliedSettings ? subscription.providerRef : null;
  const renewal = currentRef === null ? null : await calls.renew(session, currentRef);
  if (!renewal) {
    const context = { subscription, session, requests, capability, calls };
    return replaceAtProvider(services, { ...context, desired, appliedSettings, eventParties });
  }
  const dueTime = computeMaintenanceTime(services, renewal.expireTime);
  await inTransaction(services.database, async (tx) => {
    const state = await findStatusAtProvider(tx, subscription, capability);
    const change = { ...eventParties, ...state, dueTime };
    await updateInTransaction(tx, subscription, change);
    if (capability.requests?.hasOwnSecrets) await deleteExpiredSecrets(services, tx, subscription);
  });
}

const WORKING_STATE = { status: 'ACTIVE', error: null } as const;

/**
 * Returns the status of a subscription that exists at the provider. If its events come from a stream or a list, this is
 * the status of that stream or list.
 */
async function findStatusAtProvider(
  tx: Transaction,
  subscription: ObjectSubscription,
  { stream, list }: SubscribeCapability,
): Promise<Pick<ObjectSubscription, 'status' | 'error' | 'failures'>> {
  const state = stream || list ? await joinProviderStream(tx, subscription) : WORKING_STATE;
  return { ...state, failures: 0 };
}

function createDesiredSubscription(
  services: ProviderServices,
  { objectName, kinds, otherEvents }: ObjectSubscription,
  { app, account }: SubscriptionParties,
): DesiredSubscription {
  const [secret] = listWebhookSecrets(services, app);
  const url = toWebhookUrl(services, app);
  return { objectName, kinds, otherEvents, account, url, secret };
}

/** Returns a hash that changes with any parameter of the subscription. It does not reveal the secret. */
function hashDesired(desired: DesiredSubscription): string {
  return hash('sha256', JSON.stringify(desired), 'base64url');
}

interface NewSubscription {
  capability: SubscribeCapability;
  calls: NonNullable<SubscribeCapability['calls']>;
  subscription: ObjectSubscription;
  desired: DesiredSubscription;
  /** The hash of `desired`. */
  appliedSettings: string;
  session: AccountProviderSession;
  requests: OperationRequests;
  eventParties: { providerAppId: string; account: string };
}

/** Creates the new subscription before it removes the old one, so that no event is lost in between. */
async function replaceAtProvider(
  services: CoreServices,
  replacement: NewSubscription,
): Promise<void> {
  const {
    capability,
    calls,
    subscription,
    desired,
    appliedSettings,
    session,
    requests,
    eventParties,
  } = replacement;
  // Events may arrive before `create` returns. They are matched by the app and the account, which are stored first.
  await updateClaimedSubscription(services, subscription, eventParties);
  const id = capability.requests?.hasOwnSecrets ? newId('sec') : null;
  const url = id === null ? desired.url : addIdToAddress(desired.url, id);
  const { providerRef, expireTime, secrets } = await calls.create(session, { ...desired, url });
  const dueTime = computeMaintenanceTime(services, expireTime);
  await inTransaction(services.database, async (tx) => {
    const state = await findStatusAtProvider(tx, subscription, capability);
    const change = { ...eventParties, appliedSettings, ...state, providerRef, dueTime };
    await updateInTransaction(tx, subscription, change);
    if (id !== null && secrets) {
      await replaceSecrets(services, tx, subscription, { id, ...eventParties, secrets });
    }
    requests.operationId = await logSubscribe(services, tx, subscription, {
      status: 'SUCCESS',
      result: 'Subscribed',
    });
  });
  const oldRef = subscription.providerRef;
  if (oldRef === null || oldRef === providerRef) return;
  if (calls.isShared && (await isUsedByOthers(services, subscription))) return;
  await calls.delete(session, oldRef).catch((error: unknown) => {
    const fields = { err: error, installationId: subscription.installationId, providerRef: oldRef };
    services.log.warn(fields, 'provider_subscription.not_removed');
  });
}

async function recordFailure(
  requests: OperationRequests,
  subscription: ObjectSubscription,
  error: unknown,
): Promise<void> {
  if (error instanceof LeaseLost) throw error;
  const { services } = requests;
  const { reason, isTemporary } = logWorkFailure(services.log, error, {
    fields: { installationId: subscription.installationId },
    // The subscription of the installation shows the error.
    retryEvent: null,
    defectEvent: 'provider_subscription.failed',
  });
  const { failures, dueTime } = scheduleRetry(
    services,
    isTemporary ? RETRY : ONCE_A_DAY,
    subscription.failures,
  );
  const column = toTextColumn(reason);
  const failure = { status: 'FAILED', error: column, failures, dueTime } as const;
  await inTransaction(services.database, async (tx) => {
    await updateInTransaction(tx, subscription, failure);
    if (subscription.status === 'FAILED' && subscription.error === column) return;
    requests.operationId = await logSubscribe(services, tx, subscription, {
      status: 'FAILURE',
      result: reason,
    });
    await recordSubscribeError(
      tx,
      { id: subscription.installationId, projectId: subscription.projectId },
      reason,
    );
  });
}

async function unsubscribe(
  services: ProviderServices,
  subscription: ObjectSubscription,
): Promise<void> {
  try {
    await removeAtProvider(services, subscription);
  } catch (error) {
    const { failures, dueTime } = scheduleRetry(services, RETRY, subscription.failures);
    const isTemporary = error instanceof ProviderError && error.isTemporary;
    const { installationId, providerRef } = subscription;
    const fields = { err: error, installationId, providerRef, failures };
    services.log.warn(fields, 'provider_subscription.not_removed');
    if (isTemporary && failures < UNSUBSCRIBE_TRIES_MAX) {
      return updateClaimedSubscription(services, subscription, { failures, dueTime });
    }
    await deleteListWebhook(services, subscription);
  }
  await deleteClaimedSubscription(services, subscription);
}

/**
 * Returns the time of the next maintenance: after half of the remaining lifetime, and within a day, so that subscriptions
 * that the provider has lost are recreated.
 */
function computeMaintenanceTime({ now }: Pick<Services, 'now'>, expireTime: Date | null): Date {
  const nowMs = now().getTime();
  const halfMs = expireTime ? (expireTime.getTime() - nowMs) / 2 : DAY_MS;
  return new Date(nowMs + Math.max(Math.min(halfMs, DAY_MS), 1_000));
}

type SubscriptionChange = Partial<
  Pick<
    ObjectSubscription,
    | 'providerAppId'
    | 'account'
    | 'status'
    | 'error'
    | 'providerRef'
    | 'appliedSettings'
    | 'dueTime'
    | 'failures'
  >
>;

/**
 * Stores the result of a claim. A `dueTime` in the change releases the claim. A subscription that changed during the
 * claim stays due. Throws LeaseLost if the claim no longer holds the subscription.
 */
function updateClaimedSubscription(
  { database }: Pick<Services, 'database'>,
  subscription: ObjectSubscription,
  change: SubscriptionChange,
): Promise<void> {
  return inTransaction(database, (tx) => updateInTransaction(tx, subscription, change));
}

/** Stores the result of a claim as `updateClaimedSubscription` does, within a transaction. */
async function updateInTransaction(
  tx: Transaction,
  subscription: ObjectSubscription,
  change: SubscriptionChange,
): Promise<void> {
  const where = SUBSCRIPTION_LEASES.getClaimFilter(subscription);
  const isReleased = change.dueTime !== undefined;
  const row = await tx.objectSubscription.findFirst({ where });
  requireLease(row ? 1 : 0);
  const hasChanged = row?.dueTime?.getTime() !== subscription.dueTime?.getTime();
  const { providerRef } = change;
  await tx.objectSubscription.updateMany({
    where,
    data: {
      ...(hasChanged ? { ...(providerRef !== undefined && { providerRef }) } : change),
      ...(isReleased && RELEASED_LEASE),
    },
  });
}

/** Deletes a subscription with its events. Must run after its removal at the provider. */
export async function deleteClaimedSubscription(
  { database }: Pick<Services, 'database'>,
  subscription: ObjectSubscription,
): Promise<void> {
  await removeEvents(database.run, subscription);
  const where = SUBSCRIPTION_LEASES.getClaimFilter(subscription);
  await inTransaction(database, async (tx) => {
    if (await removeSubscription(tx, subscription, { ...where, isWanted: false })) return;
    // The subscription is needed again. The next maintenance creates it at the provider.
    await tx.objectSubscription.updateMany({
      where,
      data: { providerRef: null, ...RELEASED_LEASE },
    });
  });
}
