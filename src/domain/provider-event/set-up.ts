/**
 * Works off the difference between what installations want and what is at their providers. Safe to repeat: one that
 * is made twice sends events that are known already.
 */
import { createHash } from 'node:crypto';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { newId } from '../../ids.ts';
import { ProviderError } from '../../providers/provider-error.ts';
import type { DesiredSubscription, SubscribeCapability } from '../../providers/subscribing.ts';
import { nextTry } from '../../work/backoff.ts';
import { DAY_MS, HOUR_MS } from '../../work/durations.ts';
import { LeaseLost } from '../../work/lease.ts';
import { runUntilEmpty } from '../../work/run-items.ts';
import type { Services } from '../call.ts';
import type { AccountSession } from '../connection/connection-session.ts';
import { logFailure } from '../provider/work-failure.ts';
import { type ObjectSubscription, recordSubscribeError } from './object-subscription.ts';
import { isUsedByOthers, removeAtProvider } from './remove-subscription.ts';
import { joinStream } from './stream/join-stream.ts';
import { forgetPing } from './stream/stream-ping.ts';
import { logSubscribe } from './subscribe-log.ts';
import { changeHeld, claimDue, endHeld, SUBSCRIPTIONS } from './subscription-lease.ts';
import { partiesOf, type SubscriptionParties } from './subscription-parties.ts';
import { addressedTo, forgetSecrets, keepSecrets } from './subscription-secret.ts';
import { webhookSecretsOf, webhookUrlOf } from './webhook-secret.ts';

/** Subscriptions of one process that are worked on at the same time. */
const AT_ONCE = 8;
const RETRY = { firstMs: 5_000, maxMs: HOUR_MS, jitter: 0.5 };
/** Of what a person has to mend. */
const ONCE_A_DAY = { firstMs: DAY_MS, maxMs: DAY_MS };
/** Tries to take down what nobody wants; then it is left to the provider, whose events are not taken any more. */
const TAKE_DOWN_TRIES_MAX = 8;

/** Looks after all subscriptions whose time has come. */
export async function maintainSubscriptions(
  services: Services,
  signal: AbortSignal,
): Promise<void> {
  await runUntilEmpty({
    next: () => claimDue(services),
    work: (subscription) => maintain(services, subscription),
    concurrency: AT_ONCE,
    signal,
  });
}

async function maintain(services: Services, subscription: ObjectSubscription): Promise<void> {
  using _lease = SUBSCRIPTIONS.hold(services, subscription, {
    notRenewed: 'subscription.lease_not_renewed',
  });
  try {
    if (subscription.isWanted) await follow(services, subscription);
    else await takeDown(services, subscription);
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
  }
}

async function follow(services: Services, subscription: ObjectSubscription): Promise<void> {
  const capability = services.catalogue.find(subscription.provider)?.capabilities.subscribe;
  // Why was told when it was noted.
  if (!capability || subscription.status === 'UNSUPPORTED') {
    return changeHeld(services, subscription, { dueTime: null });
  }
  try {
    const ends = await partiesOf(services, subscription, capability);
    const { app, account } = ends;
    const found = { providerAppId: app.id, account };
    if (!capability.calls)
      return await changeHeld(services, subscription, waiting(services, subscription, found));
    const wanted = wantedOf(services, subscription, ends);
    const madeFor = keyOf(wanted);
    const isKept = subscription.providerRef !== null && subscription.madeFor === madeFor;
    const kept =
      isKept && (await capability.calls.renew(ends.session, subscription.providerRef as string));
    if (kept) {
      const dueTime = maintenanceTime(services, kept.expireTime);
      return await inTransaction(services.database, async (tx) => {
        const standing = await standingOf(tx, subscription, capability);
        await changeHeld(services, subscription, { ...found, ...standing, dueTime }, tx);
        if (capability.requests?.hasOwnSecrets) await forgetSecrets(services, tx, subscription);
      });
    }
    const setUp = { subscription, wanted, found: { ...found, madeFor } };
    await makeNew(
      services,
      { ...capability, calls: capability.calls },
      { ...setUp, session: ends.session },
    );
  } catch (error) {
    await noteFailure(services, subscription, error);
  }
}

const WORKING = { status: 'ACTIVE', error: null } as const;

/** Of one that is at the provider: it works as the stream or the list does that its events come by. */
async function standingOf(
  tx: Transaction,
  subscription: ObjectSubscription,
  { stream, list }: SubscribeCapability,
): Promise<Pick<ObjectSubscription, 'status' | 'error' | 'failures'>> {
  const standing = stream || list ? await joinStream(tx, subscription) : WORKING;
  return { ...standing, failures: 0 };
}

/** A person sets it up at the provider: it is known to work when its first event has come. */
function waiting(
  services: Services,
  { eventCount }: ObjectSubscription,
  found: { providerAppId: string; account: string },
) {
  const status = eventCount > 0 ? ('ACTIVE' as const) : ('PENDING' as const);
  return { ...found, status, error: null, failures: 0, dueTime: maintenanceTime(services, null) };
}

function wantedOf(
  services: Services,
  { objectName, kinds, otherEvents }: ObjectSubscription,
  { app, account }: SubscriptionParties,
): DesiredSubscription {
  const [secret] = webhookSecretsOf(services, app);
  const url = webhookUrlOf(services, app);
  return { objectName, kinds, otherEvents, account, url, secret };
}

/** Names what a subscription at the provider was made for, and keeps its secret to itself. */
function keyOf(wanted: DesiredSubscription): string {
  return createHash('sha256').update(JSON.stringify(wanted)).digest('base64url');
}

type WithCalls = SubscribeCapability & Required<Pick<SubscribeCapability, 'calls'>>;

interface ToMake {
  subscription: ObjectSubscription;
  wanted: DesiredSubscription;
  session: AccountSession;
  found: { providerAppId: string; account: string; madeFor: string };
}

/** The new one is there before the old one goes, so that no event falls between them. */
async function makeNew(
  services: Services,
  { calls, ...capability }: WithCalls,
  { subscription, wanted, session, found }: ToMake,
): Promise<void> {
  // From now on events may come: they are known by these.
  const { madeFor: _made, ...ends } = found;
  await changeHeld(services, subscription, ends);
  const id = capability.requests?.hasOwnSecrets ? newId('sec') : null;
  const url = id === null ? wanted.url : addressedTo(wanted.url, id);
  const { providerRef, expireTime, secrets } = await calls.setUp(session, { ...wanted, url });
  const dueTime = maintenanceTime(services, expireTime);
  await inTransaction(services.database, async (tx) => {
    const standing = await standingOf(tx, subscription, capability);
    await changeHeld(services, subscription, { ...found, ...standing, providerRef, dueTime }, tx);
    if (id !== null && secrets) {
      await keepSecrets(services, tx, subscription, { id, ...ends, secrets });
    }
    await logSubscribe(services, tx, subscription, { status: 'SUCCESS', result: 'Subscribed' });
  });
  const old = subscription.providerRef;
  if (old === null || old === providerRef) return;
  if (calls.areShared && (await isUsedByOthers(services, subscription))) return;
  await calls.takeDown(session, old).catch((error: unknown) => {
    const about = { err: error, installationId: subscription.installationId, providerRef: old };
    services.log.warn(about, 'subscription.old_not_taken_down');
  });
}

async function noteFailure(
  services: Services,
  subscription: ObjectSubscription,
  error: unknown,
): Promise<void> {
  if (error instanceof LeaseLost) throw error;
  const { reason, mayPass } = logFailure(services.log, error, {
    about: { installationId: subscription.installationId },
    // The installation says it.
    delayed: null,
    failed: 'subscription.failed',
  });
  const { failures, dueTime } = nextTry(
    services,
    mayPass ? RETRY : ONCE_A_DAY,
    subscription.failures,
  );
  const failed = { status: 'FAILED', error: reason, failures, dueTime } as const;
  await inTransaction(services.database, async (tx) => {
    await changeHeld(services, subscription, failed, tx);
    if (subscription.status === 'FAILED' && subscription.error === reason) return;
    await logSubscribe(services, tx, subscription, { status: 'FAILURE', result: reason });
    await recordSubscribeError(
      tx,
      { id: subscription.installationId, projectId: subscription.projectId },
      reason,
    );
  });
}

async function takeDown(services: Services, subscription: ObjectSubscription): Promise<void> {
  try {
    await removeAtProvider(services, subscription);
  } catch (error) {
    const { failures, dueTime } = nextTry(services, RETRY, subscription.failures);
    const mayPass = error instanceof ProviderError && error.isTemporary;
    const about = { err: error, installationId: subscription.installationId, failures };
    services.log.warn(about, 'subscription.not_taken_down');
    if (mayPass && failures < TAKE_DOWN_TRIES_MAX) {
      return changeHeld(services, subscription, { failures, dueTime });
    }
    await forgetPing(services, subscription);
  }
  await endHeld(services, subscription);
}

/** Half-way to its end, and every day in any case: what was lost at the provider is mended then. */
function maintenanceTime({ now }: Pick<Services, 'now'>, expireTime: Date | null): Date {
  const nowMs = now().getTime();
  const halfMs = expireTime ? (expireTime.getTime() - nowMs) / 2 : DAY_MS;
  return new Date(nowMs + Math.max(Math.min(halfMs, DAY_MS), 1_000));
}
